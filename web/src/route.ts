// Where the reader is, kept in the address behind `#`, so that a view can be sent to a colleague: #/events?source=stripe&q=evt_1
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  path: string[];  // ['events', '0199...']
  filter: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const [path = '', search = ''] = text.split('?', 2);
  const filter: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) filter[name] = value;
  return { path: path.split('/').filter((part) => part !== '').map(decoded), filter };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(path: string[], filter: Record<string, string | undefined> = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) pairs.set(name, value);
  const search = pairs.toString();
  return '#/' + path.map(encodeURIComponent).join('/') + (search === '' ? '' : '?' + search);
}

export const PAGES = ['overview', 'events', 'dead', 'rejected', 'sources', 'destinations'] as const;

export const pageHref = (page: (typeof PAGES)[number]) => href(page === 'overview' ? [] : [page]);

export function go(path: string[], filter: Record<string, string | undefined> = {}) {
  location.hash = href(path, filter);
}

// For each key stroke of a filter: the address changes, the way back does not grow.
export function replaceRoute(path: string[], filter: Record<string, string | undefined>) {
  history.replaceState(null, '', href(path, filter));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}
