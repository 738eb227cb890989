// A list that is looked at again and again, of which older pages are fetched on demand.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from './api.ts';
import { useFresh, type Fresh } from './live.ts';

const PAGE = 100;
const CALL_MAX = 500;  // the most that one call gives

interface Depth<T> extends Page<T> {
  pages: number;
}

export interface List<T> extends Omit<Fresh<Page<T>>, 'data'> {
  page: Page<T> | null;  // all that is shown, and the way on behind it; null until the first answer
  more: () => Promise<void>;
}

// Each look fetches anew as many pages as the reader has opened, one behind the other's cursor. So no row stays that the gateway's list
// has no more, and none is missing where new ones have pushed the others down.
export function useList<T>(key: string, load: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
                           stream: Record<string, string | undefined>): List<T> {
  const opened = useRef({ key, pages: 1 });
  if (opened.current.key !== key) opened.current = { key, pages: 1 };
  const mine = opened.current;
  const look = async (): Promise<Depth<T>> => {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let calls = 1;; calls += 1) {
      const page = await load({ limit: Math.min(CALL_MAX, mine.pages * PAGE - items.length), ...(cursor === undefined ? {} : { cursor }) });
      items.push(...page.items);
      // A page may be empty and not the last; of those, too, no more than the reader asked for.
      if (page.next_cursor === null || items.length >= mine.pages * PAGE || calls >= mine.pages) return { ...page, items, pages: mine.pages };
      cursor = page.next_cursor;
    }
  };
  const { data, error, reload } = useFresh(key, look, stream);
  // What was fetched behind `of`, until the next look has it too.
  const [tail, setTail] = useState<{ of: Depth<T>; page: Page<T> } | null>(null);
  const [moreError, setMoreError] = useState<unknown>(null);
  const busy = useRef(false);
  const behind = data !== null && tail?.of === data ? tail.page : null;
  useEffect(() => {
    // That look began before the reader opened another page.
    if (data !== null && behind === null && data.pages < mine.pages) reload();
  }, [data, tail]);
  const page = data === null || behind === null ? data : { ...behind, items: [...data.items, ...behind.items] };
  const more = async () => {
    if (data === null || page === null || page.next_cursor === null || busy.current) return;
    busy.current = true;
    setMoreError(null);
    try {
      const older = await load({ limit: PAGE, cursor: page.next_cursor });
      mine.pages += 1;
      setTail({ of: data, page: { ...older, items: [...(behind?.items ?? []), ...older.items] } });
    } catch (failure) {
      setMoreError(failure);
    } finally {
      busy.current = false;
    }
  };
  return { page, error: error ?? moreError, reload: () => { setMoreError(null); reload(); }, more };
}
