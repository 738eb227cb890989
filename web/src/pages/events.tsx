// The live table of events. New rows come in at the top only while the reader is there; else a button says how many there are.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, sourceUrl, type EventFilter, type EventSummary, type Page } from '../api.ts';
import { bytes, count } from '../format.ts';
import { useFresh, useOnce } from '../live.ts';
import { ReplayDialog, type ReplayTarget } from '../parts/replay.tsx';
import { Ago, CopyButton, Empty, ErrorNote, More, StateBadge, Waiting } from '../parts/small.tsx';
import { href, replaceRoute } from '../route.ts';
import { useSpeech } from '../words/index.ts';

const PAGE = 50;
const SHOWN_FRESH_MAX = 500;  // one call's limit: what stands below it is not looked at again

type Filter = Record<string, string>;

function wanted(filter: Filter): EventFilter {
  const { source, type, state, key, q, since, until } = filter;
  return JSON.parse(JSON.stringify({ source, type, state, key, q, since, until })) as EventFilter;
}

// What of the rows shown a fresh look leaves: one that it has come past and did not find fits no more, or was pruned.
function stillFitting(shown: EventSummary[], look: Page<EventSummary>): EventSummary[] {
  const found = new Set(look.items.map((item) => item.id));
  if (look.next_cursor === null) return shown.filter((item) => found.has(item.id));
  const last = look.items[look.items.length - 1];
  const lastPlace = last === undefined ? -1 : shown.findIndex((item) => item.id === last.id);
  const passed = [last?.received_at, look.searched_until].filter((at) => at != null).map((at) => Date.parse(at));
  return shown.filter((item, place) => found.has(item.id) || (place > lastPlace && !passed.some((at) => Date.parse(item.received_at) > at)));
}

export function Events({ filter }: { filter: Filter }) {
  const { t, language } = useSpeech();
  const key = JSON.stringify(wanted(filter));
  const [shown, setShown] = useState<EventSummary[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [fresh, setFresh] = useState<EventSummary[]>([]);
  const [target, setTarget] = useState<ReplayTarget | null>(null);
  const [said, setSaid] = useState('');
  const [moreError, setMoreError] = useState<unknown>(null);
  const [until, setUntil] = useState<string | null>(null);
  const [searching, setSearching] = useState(false);
  const stop = useRef(false);
  const shownKey = useRef(key);
  const loaded = useRef(PAGE);

  const { data, error, reload } = useFresh(key, () => api.events({ ...wanted(filter), limit: loaded.current }),
                                           { source: filter.source, type: filter.type });
  useEffect(() => {
    shownKey.current = key;
    loaded.current = PAGE;
    setShown(null);
    setFresh([]);
    setNext(null);
    setUntil(null);
    return () => {
      stop.current = true;
    };
  }, [key]);
  useEffect(() => {
    if (data === null || shownKey.current !== key) return;
    setShown((old) => {
      if (old === null) {
        setNext(data.next_cursor);
        setUntil(data.searched_until ?? null);
        return data.items;
      }
      const known = new Set(old.map((item) => item.id));
      const added = data.items.filter((item) => !known.has(item.id));
      const now = new Map(data.items.map((item) => [item.id, item]));
      if (data.next_cursor === null) setNext(null);
      const updated = stillFitting(old, data).map((item) => now.get(item.id) ?? item);
      if (added.length === 0) {
        setFresh([]);
        return updated;
      }
      if (scrollY > 8 && old.length > 0) {
        setFresh(added);
        return updated;
      }
      setFresh([]);
      if (added.length < data.items.length || old.length === 0) return [...added, ...updated];
      setNext(data.next_cursor);  // none of the old ones is among them: what lies between is not known
      return data.items;
    });
  }, [data, key]);

  const showFresh = () => {
    scrollTo({ top: 0 });
    setShown((old) => (data !== null && fresh.length === data.items.length ? data.items : [...fresh, ...(old ?? [])]));
    if (data !== null && fresh.length === data.items.length) setNext(data.next_cursor);
    setFresh([]);
  };
  // A call looks for a moment only. So this goes on until something is found, all was looked at, or the reader has seen enough.
  const more = async () => {
    setMoreError(null);
    setSearching(true);
    stop.current = false;
    try {
      for (let cursor = next; cursor !== null && !stop.current;) {
        const page = await api.events({ ...wanted(filter), limit: PAGE, cursor });
        if (shownKey.current !== key) break;
        cursor = page.next_cursor;
        setNext(cursor);
        setUntil(page.searched_until ?? null);
        if (page.items.length === 0) continue;
        loaded.current = Math.min(SHOWN_FRESH_MAX, loaded.current + PAGE);
        setShown((old) => {
          const known = new Set((old ?? []).map((item) => item.id));
          return [...(old ?? []), ...page.items.filter((item) => !known.has(item.id))];
        });
        break;
      }
    } catch (failure) {
      setMoreError(failure);
    } finally {
      setSearching(false);
    }
  };
  const ask = async (item: EventSummary) => {
    try {
      const detail = await api.event(item.id);
      setTarget({ id: item.id, label: item.key ?? item.id, deliveries: detail.deliveries });
    } catch (failure) {
      setMoreError(failure);
    }
  };
  const filtered = Object.keys(JSON.parse(key) as object).length > 0;
  return (
    <>
      <h1>{t.pages.events}</h1>
      <EventFilters filter={filter} />
      <ErrorNote error={error ?? moreError} retry={reload} />
      <p class="said" role="status">{said}</p>
      {fresh.length > 0 && <button type="button" class="fresh primary" onClick={showFresh}>{t.newEvents(fresh.length)}</button>}
      {shown === null && error === null && <Waiting />}
      {shown !== null && shown.length === 0 && next === null && (filtered ? <NothingFits /> : <NoEventYet />)}
      {shown !== null && shown.length === 0 && next !== null && <Empty title={t.nothingSoFar}><p>{t.nothingSoFarWhy}</p></Empty>}
      {shown !== null && shown.length > 0 && (
        <table class="rows events">
          <thead><tr>
            <th scope="col">{t.time}</th><th scope="col">{t.source}</th><th scope="col">{t.type}</th><th scope="col">{t.key}</th>
            <th scope="col">{t.state}</th><th scope="col" class="number">{t.duplicates}</th><th scope="col" class="number">{t.size}</th>
            <th scope="col"><span class="offscreen">{t.replay}</span></th>
          </tr></thead>
          <tbody>
            {shown.map((item) => (
              <tr key={item.id} data-row={item.id}>
                <td class="when"><Ago at={item.received_at} /></td>
                <td class="source">{item.source}</td>
                <td class="type">{item.type ?? <span class="quiet">—</span>}</td>
                <td class="key mono"><a data-open href={href(['events', item.id])} title={item.key ?? item.id}>{item.key ?? item.id}</a></td>
                <td class="what"><StateBadge state={item.state} /></td>
                <td class={`number ${item.duplicates === 0 ? 'quiet' : ''}`}>{item.duplicates === 0 ? '·' : <span title={t.duplicates}>+{count(item.duplicates, language)}</span>}</td>
                <td class="number quiet size">{bytes(item.size)}</td>
                <td class="act"><button type="button" class="small" data-replay onClick={() => void ask(item)} aria-label={`${t.replay} ${item.key ?? item.id}`}>{t.replay}</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next !== null && shown !== null &&
        <More found={shown.length > 0} until={filtered ? until : null} busy={searching} onMore={more} onStop={() => { stop.current = true; }} />}
      {target !== null && <ReplayDialog target={target} onClose={() => setTarget(null)}
                                        onDone={(text) => { setTarget(null); setSaid(text); reload(); }} />}
    </>
  );
}

function EventFilters({ filter }: { filter: Filter }) {
  const { t } = useSpeech();
  const sources = useOnce(api.sources)?.items ?? [];
  const set = (name: string, value: string) => replaceRoute(['events'], { ...filter, [name]: value });
  const names = sources.map((source) => source.name);
  if (filter.source && !names.includes(filter.source)) names.push(filter.source);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>{t.source}
        <select value={filter.source ?? ''} onChange={(event) => set('source', event.currentTarget.value)}>
          <option value="">{t.all}</option>
          {names.map((name) => <option value={name}>{name}</option>)}
        </select>
      </label>
      <label>{t.state}
        <select value={filter.state ?? ''} onChange={(event) => set('state', event.currentTarget.value)}>
          <option value="">{t.all}</option>
          {(['pending', 'delivered', 'dead'] as const).map((state) => <option value={state}>{t.states[state]}</option>)}
        </select>
      </label>
      <label>{t.since}
        <select value={filter.since ?? ''} onChange={(event) => set('since', event.currentTarget.value)}>
          <option value="">{t.all}</option>
          {(['15m', '1h', '1d', '7d'] as const).map((since) => <option value={since}>{t.ages[since]}</option>)}
          {filter.since && !['15m', '1h', '1d', '7d'].includes(filter.since) && <option value={filter.since}>{filter.since}</option>}
        </select>
      </label>
      <label>{t.type}<Typed value={filter.type ?? ''} onValue={(value) => set('type', value)} /></label>
      <label class="wide">{t.text}<Typed value={filter.q ?? ''} hint={t.searchHint} onValue={(value) => set('q', value)} /></label>
      {Object.keys(filter).length > 0 && <a class="clear" href={href(['events'])}>{t.clear}</a>}
    </form>
  );
}

const TYPING_MS = 300;

// What is typed counts when the typing stops, or at once with enter.
function Typed({ value, hint, onValue }: { value: string; hint?: string; onValue: (value: string) => void }) {
  const [text, setText] = useState(value);
  const latest = useRef(onValue);
  latest.current = onValue;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => latest.current(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return <input type="search" value={text} placeholder={hint} autocomplete="off" spellcheck={false}
                onInput={(event) => setText(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Enter' && latest.current(text)} />;
}

function NothingFits() {
  const { t } = useSpeech();
  return <Empty title={t.nothingFits}><p>{t.nothingFitsWhy}</p><p><a href={href(['events'])}>{t.clear}</a></p></Empty>;
}

export function NoEventYet() {
  const { t } = useSpeech();
  const data = useOnce(api.sources);
  if (data === null) return null;
  const first = data.items[0];
  if (first === undefined) return <NoSourceYet />;
  const url = sourceUrl(first);
  const line = `hookonce send ${first.provider} --to ${url} --secret env:SECRET`;
  return (
    <Empty title={t.noEventYet}>
      <p>{t.pasteUrl(first.provider)}</p>
      <p class="command"><code>{url}</code> <CopyButton text={url} /></p>
      <p>{t.orSend}</p>
      <p class="command"><code>{line}</code> <CopyButton text={line} /></p>
    </Empty>
  );
}

export function NoSourceYet() {
  const { t } = useSpeech();
  const lines = '[sources.stripe]\nprovider = "stripe"\nsecrets = ["env:STRIPE_WEBHOOK_SECRET"]\ndestinations = ["backend"]\n\n[destinations.backend]\nurl = "http://127.0.0.1:8000/webhook/"';
  return (
    <Empty title={t.noSourceYet}>
      <p>{t.noSourceYetWhy}</p>
      <pre>{lines}</pre>
      <CopyButton text={lines} />
    </Empty>
  );
}
