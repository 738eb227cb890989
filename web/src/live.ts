// The live stream, and what stands in for it: pages say what they show, this says when to look again.
//
// The stream only signals; what is shown always comes from the calls, so nothing can be shown that the store does not hold.
// Without a stream the pages look every few seconds. A hidden page holds no connection: browsers allow six per gateway.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { query } from './api.ts';

const POLL_MS = 3000;
const LIVE_POLL_MS = 10000;  // a stream tells what its own gateway does; others on the same inbox are seen by looking
const LOOK_AGAIN_MS = 1000;  // at most one look in this time, however many events arrive
const STREAM_AGAIN_MS = 30000;
const NAMES = ['accepted', 'duplicate', 'rejected', 'attempt', 'delivered', 'dead', 'missed'] as const;

export type LiveState = 'live' | 'polling' | 'hidden';

type StateListener = (state: LiveState) => void;
const stateListeners = new Set<StateListener>();
let liveState: LiveState = 'polling';
const openStreams = new Set<EventSource>();
function noteLiveState() {
  liveState = document.hidden ? 'hidden' : openStreams.size > 0 ? 'live' : 'polling';
  stateListeners.forEach((listener) => listener(liveState));
}

export function useLiveState(): LiveState {
  const [state, setState] = useState(liveState);
  useEffect(() => {
    stateListeners.add(setState);
    setState(liveState);
    return () => void stateListeners.delete(setState);
  }, []);
  return state;
}

// Calls `look` when something happened that fits `filter`, else every few seconds.
function useSignal(look: () => void, filter: Record<string, string | undefined> | null) {
  const latest = useRef(look);
  latest.current = look;
  const address = filter === null ? null : '/api/v1/stream' + query(filter);
  useEffect(() => {
    let stream: EventSource | null = null;
    let poll = 0;
    let due = 0;
    let again = 0;
    let lastLook = Date.now();
    const lookNow = () => {
      due = 0;
      lastLook = Date.now();
      latest.current();
    };
    const lookSoon = () => {
      if (due === 0) due = window.setTimeout(lookNow, Math.max(0, lastLook + LOOK_AGAIN_MS - Date.now()));
    };
    const pollEvery = (ms: number) => {
      window.clearInterval(poll);
      poll = window.setInterval(lookNow, ms);
    };
    const forget = () => {
      if (stream !== null) openStreams.delete(stream);
      noteLiveState();
    };
    const close = () => {
      stream?.close();
      forget();
      stream = null;
      window.clearTimeout(again);
      window.clearTimeout(due);
      due = 0;
      window.clearInterval(poll);
    };
    const open = () => {
      pollEvery(POLL_MS);
      if (address === null) return;
      stream = new EventSource(address);
      stream.onopen = () => {
        pollEvery(LIVE_POLL_MS);
        if (stream !== null) openStreams.add(stream);
        noteLiveState();
        lookSoon();  // what happened between the last look and now
      };
      stream.onerror = () => {
        if (stream !== null && openStreams.has(stream)) pollEvery(POLL_MS);
        forget();
        if (stream?.readyState !== EventSource.CLOSED) return;  // it reconnects by itself
        stream = null;
        again = window.setTimeout(() => {
          close();
          open();
        }, STREAM_AGAIN_MS);
      };
      for (const name of NAMES) stream.addEventListener(name, lookSoon);
    };
    const visibility = () => {
      close();
      if (document.hidden) return;
      lookNow();
      open();
    };
    document.addEventListener('visibilitychange', visibility);
    if (!document.hidden) open();
    return () => {
      document.removeEventListener('visibilitychange', visibility);
      close();
    };
  }, [address]);
}

// What `load` gave when the page was opened; null until then, and where it failed.
export function useOnce<T>(load: () => Promise<T>): T | null {
  const [data, setData] = useState<T | null>(null);
  useEffect(() => {
    let gone = false;
    load().then((answer) => { if (!gone) setData(answer); }, () => undefined);
    return () => {
      gone = true;
    };
  }, []);
  return data;
}

export interface Fresh<T> {
  data: T | null;
  error: unknown;
  reload: () => void;
}

// What `load` gives, fetched again when it may have changed. While a new answer is on its way the old one stays. A change of `key`
// starts over. `stream` null: only every few seconds.
export function useFresh<T>(key: string, load: () => Promise<T>, stream: Record<string, string | undefined> | null): Fresh<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: unknown }>({ key, data: null, error: null });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const busy = useRef(false);
  const again = useRef(false);
  const run = useCallback(async () => {
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    const mine = turn.current;
    try {
      const data = await latest.current();
      if (mine === turn.current) setState({ key, data, error: null });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ key, data: old.key === key ? old.data : null, error }));
    } finally {
      if (mine === turn.current) {
        busy.current = false;
        if (again.current) {
          again.current = false;
          void run();
        }
      }
    }
  }, [key]);
  useEffect(() => {
    turn.current += 1;
    busy.current = false;
    again.current = false;
    void run();
    return () => {
      turn.current += 1;
    };
  }, [run]);
  useSignal(run, stream);
  const own = state.key === key;
  return { data: own ? state.data : null, error: own ? state.error : null, reload: run };
}
