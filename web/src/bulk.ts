// Sending many again, part by part, so that it can be watched and stopped between two parts.
import { api, ApiError, type ReplayFilter } from './api.ts';

export const PART = 50;  // events of one call: each is done within a moment, so that a stop is soon felt

export interface Progress {
  sent: number;
  cursor?: string;  // where the next part begins; none: at the first
  done: boolean;
  stopped: boolean;
}

export const NOT_BEGUN: Progress = { sent: 0, done: false, stopped: false };

// Goes on behind `from`. A part that fails is thrown; what was said last is where to go on. REQUIRES: `filter` has neither limit nor
// cursor. `stop` is asked before each part.
export async function replayInParts(filter: ReplayFilter, from: Progress, stop: () => boolean, say: (progress: Progress) => void): Promise<Progress> {
  let { sent, cursor } = from;
  for (;;) {
    if (stop()) return { sent, ...(cursor === undefined ? {} : { cursor }), done: false, stopped: true };
    const answer = await part({ ...filter, limit: PART, ...(cursor === undefined ? {} : { cursor }) });
    sent += answer.matched;
    if (!answer.next_cursor) return { sent, done: true, stopped: false };
    cursor = answer.next_cursor;
    say({ sent, cursor, done: false, stopped: false });
  }
}

// One that did not come to its end and that nobody closed, with what was asked for. It outlives the page: where the session was over, the
// reader comes back by the sign-in page.
export interface BrokenOff {
  filter: ReplayFilter;
  matched: number;
  progress: Progress;
  error: unknown;
}
let kept: BrokenOff | null = null;
export const brokenOff = () => kept;
export const keepBrokenOff = (what: BrokenOff | null) => void (kept = what);

// A gateway that knows no parts does all at once.
async function part(filter: ReplayFilter): Promise<{ matched: number; next_cursor?: string | null }> {
  try {
    return await api.replays(filter);
  } catch (error) {
    const unknown = error instanceof ApiError && error.code === 'invalid_field' && /`?limit`?/.test(error.message);
    if (!unknown || filter.cursor !== undefined) throw error;
    const { limit: _, ...whole } = filter;
    return api.replays(whole);
  }
}
