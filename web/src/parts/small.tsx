// The small things that every page shows: moments, states, copy buttons, errors, and what an empty page says.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, gatewayNow, type Held, type State } from '../api.ts';
import { copy, whyBeyond } from '../content.ts';
import { age, exact } from '../format.ts';
import { href } from '../route.ts';
import { useSpeech } from '../words/index.ts';

// One clock for all moments of the page.
const ticks = new Set<() => void>();
setInterval(() => ticks.forEach((tick) => tick()), 1000);
export function useTick() {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const tick = () => setTurn((turn) => turn + 1);
    ticks.add(tick);
    return () => void ticks.delete(tick);
  }, []);
}

// "3 min ago", with the exact moment on hover.
export function Ago({ at }: { at: string }) {
  useTick();
  const { t, language } = useSpeech();
  const distance = gatewayNow() - Date.parse(at);
  const text = distance < -1000 ? t.inFuture(age(-distance, language)) : t.ago(age(distance, language));
  return <time dateTime={at} title={exact(at)}>{text}</time>;
}

const STATE_SIGN: Record<State, string> = { pending: '◔', in_flight: '◑', delivered: '●', dead: '✕' };

export function StateBadge({ state }: { state: State }) {
  const { t } = useSpeech();
  return <span class={`state state-${state}`}><span aria-hidden="true">{STATE_SIGN[state] ?? '?'} </span>{t.states[state] ?? state}</span>;
}

export function CauseName({ cause }: { cause: string }) {
  const { t } = useSpeech();
  return <span>{t.causes[cause as keyof typeof t.causes] ?? cause}</span>;
}

// Why a delivery is not sent however long it is due; or when its next attempt is.
export function WhenSent({ delivery }: { delivery: Held & { next_attempt_at: string | null } }) {
  const { t } = useSpeech();
  const { held, behind } = delivery;
  const line = behind !== null && <span>{t.heldLine[0]} <a href={href(['events', behind])} title={behind}>{t.heldLine[1]}</a> {t.heldLine[2]}</span>;
  if (held === 'paused') return <span><a href={href(['destinations'])}>{t.heldPaused}</a>{line && <>; {line}</>}</span>;
  if (held === 'line') return <>{line}</>;
  return delivery.next_attempt_at === null ? null : <span>{t.nextAttempt} <Ago at={delivery.next_attempt_at} /></span>;
}

// What came back of an attempt, said once: the error of an answer that is no success begins with its status.
export function AnswerText({ status, error }: { status: number | null; error: string | null }) {
  const { t } = useSpeech();
  if (status === null) return <>{error ?? ''}</>;
  const more = whyBeyond(status, error);
  return <>{t.answered(status)}{more !== '' && `; ${more}`}</>;
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { t } = useSpeech();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button type="button" class="small" onClick={async () => setDone(await copy(text))}>
      <span aria-live="polite">{done ? t.copied : label ?? t.copy}</span>
    </button>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useSpeech();
  if (error === null || error === undefined) return null;
  if (error instanceof ApiError && error.status === 401) return null;  // the sign-in page comes
  const unreachable = error instanceof ApiError && error.status === 0;
  return (
    <p class="note bad" role="alert">
      {unreachable ? t.unreachable : messageOf(error)}
      {retry && <> <button type="button" class="small" onClick={retry}>{t.again}</button></>}
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <section class="empty"><h2>{title}</h2>{children}</section>;
}

// The way on behind what is shown: older ones, or a search that has not come to the end. `until`: how far back it came.
export function More({ found, until, busy, onMore, onStop }: { found: boolean; until?: string | null; busy?: boolean; onMore: () => Promise<void>; onStop?: () => void }) {
  const { t } = useSpeech();
  return (
    <div class="more">
      {until != null && <p class="quiet" role="status">{busy ? t.searchingUntil : t.searchedUntil} <time dateTime={until}>{exact(until)}</time></p>}
      {busy && onStop !== undefined
        ? <button type="button" onClick={onStop}>{t.stop}</button>
        : <button type="button" disabled={busy} onClick={() => void onMore()}>{found ? t.older : t.searchFurther}</button>}
    </div>
  );
}

// Says that something is under way, and only where it takes long enough to be noticed.
export function Waiting() {
  const { t } = useSpeech();
  return <p class="waiting" role="status">{t.loading}</p>;
}

export function NotYet() {
  const { t } = useSpeech();
  return <Empty title={t.notYet}><p>{t.notYetWhy}</p></Empty>;
}
