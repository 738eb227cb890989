// Sending many again, part by part, so that it can be watched and stopped between two parts.
import { api, ApiError, type ReplayFilter } from './api.ts';

export const PART = 50;  // events of one call: each is done within a moment, so that a stop is soon felt

export interface Progress {
  sent: number;
  done: boolean;
  stopped: boolean;
}

// REQUIRES: `filter` has neither limit nor cursor. `stop` is asked before each part.
export async function replayInParts(filter: ReplayFilter, stop: () => boolean, say: (progress: Progress) => void): Promise<Progress> {
  let sent = 0;
  let cursor: string | undefined;
  for (;;) {
    if (stop()) return { sent, done: false, stopped: true };
    const answer = await part({ ...filter, limit: PART, ...(cursor === undefined ? {} : { cursor }) });
    sent += answer.matched;
    if (!answer.next_cursor) return { sent, done: true, stopped: false };
    cursor = answer.next_cursor;
    say({ sent, done: false, stopped: false });
  }
}

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
