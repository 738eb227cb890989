// The admin API as this page uses it: the shapes of docs/http-api.md, one function to call it, and one kind of error.

export type State = 'pending' | 'in_flight' | 'delivered' | 'dead';
export type Counted = Record<string, number>;

export interface EventSummary {
  id: string;
  source: string;
  type: string | null;
  key: string | null;
  received_at: string;
  state: State;
  duplicates: number;
  size: number;
}
export interface Arrival {
  at: string;
  verdict: string;
  cause: string;
  reason: string;
  certain: boolean;
  remote: string;
  retry: { number: number; reason: string | null } | null;
  provider_time: string | null;
  secret: number;
  same_key: boolean;
  same_body: boolean;
  same_signature: boolean | null;
  since_first_ms: number;
}
export interface Attempt {
  number: number;
  started_at: string;
  duration_ms: number | null;
  outcome: 'success' | 'failed' | 'unknown' | 'released' | null;
  status: number | null;
  error: string | null;
  response: string | null;
}
// What keeps a pending delivery from being sent when it is due; `behind` is the event at the head of its line.
export interface Held {
  held: 'line' | 'paused' | null;
  behind: string | null;
}
export interface Delivery extends Held {
  destination: string;
  state: State;
  orphaned: boolean;
  next_attempt_at: string | null;
  delivered_at: string | null;
  replayed: boolean;
  attempts: Attempt[];
}
export type HeaderPair = [name: string, value: string];
export interface Content {
  headers: HeaderPair[];
  body?: string | null; // null: it is not shown, and body_hidden says why
  body_base64?: string;
  body_hidden?: string;
  body_cut?: boolean; // only the beginning is shown
}
export interface EventDetail extends EventSummary, Content {
  ordering_key: string | null;
  arrivals: Arrival[];
  deliveries: Delivery[];
  reason?: string;
}
export interface DeliveryRow extends Held {
  event: string;
  source: string;
  type: string | null;
  key: string | null;
  destination: string;
  state: State;
  orphaned: boolean;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  received_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
}
export interface Rejected extends Content {
  id: string;
  source: string;
  code: string;
  reason: string;
  remote: string;
  first_at: string;
  last_at: string;
  count: number;
  size: number;
}
export interface Counts {
  accepted: number;
  duplicates: number;
  rejected: number;
  unavailable: number;
  accepted_last_minute: number;
  duplicates_last_minute: number;
  causes?: Counted;
}
export interface Source {
  name: string;
  provider: string;
  path: string;
  url: string | null;
  secrets: number;
  destinations: { name: string; types: string[]; when: string[] }[];
  tolerance: string;
  dedup_key: string[];
  dedup_also: string[];
  dedup_window: string;
  missing_key: string;
  rearm: boolean;
  mode: string;
  late_answer: { content_type: string; body: string } | null;
  late_reply: object | null;
  ordering_key: string | null;
  ack_deadline: string;
  counts: Counts;
  alarm?: { since: string; rejected_last_minute: number; code: string } | null;
}
export interface Destination {
  name: string;
  orphaned: boolean;
  waiting: number;
  // All below are absent where the configuration does not know the destination any more.
  url?: string;
  secrets?: number;
  timeout?: string;
  concurrency?: number;
  rate_per_second?: number | null;
  ordering?: boolean;
  resign?: boolean;
  lease?: string;
  retry?: { first: string; factor: number; max: string; attempts: number; give_up: string };
  breaker?: { enabled: boolean; state: 'closed' | 'open' | 'half_open'; open_until: string | null; opened: number; failure_rate: number; attempts: number; after: string; open: string; open_max: string };
  paused?: boolean;
  delivered?: number;
  failed?: number;
  delivered_last_minute?: number;
}
export interface Stats {
  now: string;
  draining: boolean;
  events: number;
  deliveries: { pending: number; in_flight: number; dead: number; orphaned: number; oldest_pending_at: string | null; delivered?: number };
  sources: Record<string, Counts>;
  destinations: Record<string, { waiting: number }>;
  paused?: string[];
  store: { ready: boolean; why: string | null; log_bytes: number; weaknesses: string[] };
}
export interface Quantiles {
  p50: number | null;
  p99: number | null;
}
export interface HistoryPoint {
  at: string;
  accepted: number;
  duplicates: number;
  causes: Counted;
  rejected: number;
  delivered: number;
  dead: number;
  answer_ms: Quantiles | null;
  delivery_ms: Quantiles | null;
}
export interface History {
  step_seconds: number;
  points: HistoryPoint[];
}
export interface Session {
  token_required: boolean;
  signed_in?: boolean;
}
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  searched_until?: string | null; // how far back a call came that ended before it had looked at all
}
export interface ReplayFilter {
  source?: string;
  destination?: string;
  type?: string;
  q?: string;
  dead?: boolean;
  new_key?: boolean;
  dry_run?: boolean;
  limit?: number;
  cursor?: string;
}

export class ApiError extends Error {
  readonly status: number;  // 0: no answer came
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 405);
}

type Listener = () => void;
const signedOutListeners = new Set<Listener>();
export function onSignedOut(listener: Listener): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

// The gateway's clock against this one's: relative times would lie on a phone whose clock is off.
let skewMs = 0;
const SKEW_IGNORED_MS = 3000;  // `Date` has whole seconds, and the answer was under way for a while
export const gatewayNow = () => Date.now() + skewMs;

function noteClock(answer: Response) {
  const date = Date.parse(answer.headers.get('Date') ?? '');
  if (Number.isNaN(date)) return;
  const skew = date - Date.now();
  skewMs = Math.abs(skew) < SKEW_IGNORED_MS ? 0 : skew;
}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, credentials: 'same-origin', cache: 'no-store' };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'Content-Type': 'application/json' };
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch {
    throw new ApiError(0, 'unreachable', 'the gateway does not answer');
  }
  noteClock(answer);
  const text = await answer.text();
  let value: unknown = null;
  try {
    value = text === '' ? null : JSON.parse(text);
  } catch {
    throw new ApiError(answer.status, 'malformed', `the answer to ${method} ${path} is not JSON`);
  }
  if (answer.ok) return value as T;
  const error = (value as { error?: { code?: string; message?: string } } | null)?.error;
  if (answer.status === 401 && path !== '/api/v1/session') signedOutListeners.forEach((listener) => listener());
  throw new ApiError(answer.status, error?.code ?? 'failed', error?.message ?? `${method} ${path}: ${answer.status}`);
}

export function query(parameters: Record<string, string | number | null | undefined>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') pairs.set(name, String(value));
  }
  const text = pairs.toString();
  return text === '' ? '' : '?' + text;
}

const get = <T>(path: string) => call<T>('GET', path);
const segment = encodeURIComponent;

export interface EventFilter {
  source?: string;
  type?: string;
  state?: string;
  key?: string;
  q?: string;
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
}

export const api = {
  session: () => get<Session>('/api/v1/session'),
  signIn: (token: string) => call<null>('POST', '/api/v1/session', { token }),
  signOut: () => call<null>('DELETE', '/api/v1/session'),
  events: (filter: EventFilter) => get<Page<EventSummary>>('/api/v1/events' + query({ ...filter })),
  event: (id: string, reveal = false) => get<EventDetail>(`/api/v1/events/${segment(id)}${reveal ? '?reveal=true' : ''}`),
  replay: (id: string, body: { destination?: string; new_key?: boolean }) =>
    call<{ deliveries: { destination: string; state: State; replayed: boolean }[] }>('POST', `/api/v1/events/${segment(id)}/replay`, body),
  replays: (filter: ReplayFilter) => call<{ matched: number; next_cursor?: string | null }>('POST', '/api/v1/replays', filter),
  deliveries: (filter: { source?: string; destination?: string; state?: string; limit?: number; cursor?: string }) =>
    get<Page<DeliveryRow>>('/api/v1/deliveries' + query(filter)),
  rejected: (filter: { source?: string; limit?: number; cursor?: string }) => get<Page<Rejected>>('/api/v1/rejected' + query(filter)),
  accept: (id: string) => call<{ status: string; id: string }>('POST', `/api/v1/rejected/${segment(id)}/accept`),
  sources: () => get<{ items: Source[] }>('/api/v1/sources'),
  destinations: () => get<{ items: Destination[] }>('/api/v1/destinations'),
  pause: (name: string, paused: boolean) => call<{ name: string; paused: boolean }>('POST', `/api/v1/destinations/${segment(name)}/${paused ? 'pause' : 'resume'}`),
  stats: () => get<Stats>('/api/v1/stats'),
  history: (minutes: number) => get<History>('/api/v1/history' + query({ minutes })),
};

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

// Whether an address leads to the gateway on its own machine only, and this page was reached from another.
export function isOnlyThere(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname) && !LOOPBACK.test(location.hostname);
}

// What to paste at the provider. A gateway that listens on every address is shown under the one by which this page reached it.
export function sourceUrl(source: Source): string {
  if (source.url === null) return source.path;
  return source.url.replace(/^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/])/, `$1${location.hostname}`);
}
