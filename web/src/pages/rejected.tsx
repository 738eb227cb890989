// Rejected requests: why each was refused, what it held, and accepting it once the secret is right.
import { useState } from 'preact/hooks';
import { api, isMissing, type Rejected } from '../api.ts';
import { prettyBody } from '../content.ts';
import { bytes, count } from '../format.ts';
import { useFresh, useOnce } from '../live.ts';
import { Ago, Empty, ErrorNote, messageOf, NotYet, Waiting } from '../parts/small.tsx';
import { href, replaceRoute } from '../route.ts';
import { useSpeech } from '../words/index.ts';

const PAGE = 100;

export function RejectedPage({ filter }: { filter: Record<string, string> }) {
  const { t } = useSpeech();
  const source = filter.source;
  const key = source ?? '';
  const { data, error, reload } = useFresh(key, () => api.rejected({ source, limit: PAGE }), { source });
  const names = (useOnce(api.sources)?.items ?? []).map((item) => item.name);
  const [older, setOlder] = useState<{ key: string; items: Rejected[]; next: string | null }>({ key, items: [], next: null });
  const [moreError, setMoreError] = useState<unknown>(null);
  const [said, setSaid] = useState<{ text: string; event: string } | null>(null);
  if (data === null && isMissing(error)) return <><h1>{t.pages.rejected}</h1><NotYet /></>;
  const behind = older.key === key ? older.items : [];
  const next = behind.length > 0 ? older.next : data?.next_cursor ?? null;
  const fresh = new Set((data?.items ?? []).map((item) => item.id));
  const items = [...(data?.items ?? []), ...behind.filter((item) => !fresh.has(item.id))];
  const more = async () => {
    if (next === null) return;
    setMoreError(null);
    try {
      const page = await api.rejected({ source, limit: PAGE, cursor: next });
      setOlder({ key, items: [...behind, ...page.items], next: page.next_cursor });
    } catch (failure) {
      setMoreError(failure);
    }
  };
  return (
    <>
      <h1>{t.pages.rejected}</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>{t.source}
          <select value={key} onChange={(event) => replaceRoute(['rejected'], { source: event.currentTarget.value })}>
            <option value="">{t.all}</option>
            {(key !== '' && !names.includes(key) ? [...names, key] : names).map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      </form>
      <ErrorNote error={error ?? moreError} retry={reload} />
      <p class="said" role="status">{said !== null && <>{said.text} <a href={href(['events', said.event])}>{t.openEvent}</a></>}</p>
      {data === null && error === null && <Waiting />}
      {data !== null && items.length === 0 && <Empty title={t.noRejected}><p>{t.noRejectedWhy}</p></Empty>}
      {items.length > 0 && <p class="quiet">{t.acceptHint}</p>}
      <ul class="rejected">{items.map((item) => <RejectedItem key={item.id} item={item} onDone={(text, event) => { setSaid({ text, event }); reload(); }} />)}</ul>
      {next !== null && items.length > 0 && <p class="more"><button type="button" onClick={() => void more()}>{t.older}</button></p>}
    </>
  );
}

function RejectedItem({ item, onDone }: { item: Rejected; onDone: (text: string, event: string) => void }) {
  const { t, language } = useSpeech();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const accept = async () => {
    setBusy(true);
    try {
      const answer = await api.accept(item.id);
      setRefusal('');
      onDone(t.acceptedAs[answer.status as keyof typeof t.acceptedAs] ?? answer.status, answer.id);
    } catch (failure) {
      setRefusal(t.acceptFailed(messageOf(failure)));
    } finally {
      setBusy(false);
    }
  };
  const contentType = item.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return (
    <li class="card" data-row={item.id}>
      <div class="facts">
        <strong>{item.source}</strong> <span class="tag bad">{t.codes[item.code as keyof typeof t.codes] ?? item.code}</span>
        <Ago at={item.last_at} />
        {item.count > 1 && <span class="tag">{t.times(count(item.count, language))}</span>}
        <span class="quiet">{t.from} <code>{item.remote}</code> · {bytes(item.size)}</span>
      </div>
      <p>{item.reason}</p>
      {item.count > 1 && <p class="quiet">{t.firstSeen} <Ago at={item.first_at} /></p>}
      {refusal !== '' && <p class="note bad" role="alert">{refusal}</p>}
      <div class="buttons">
        <button type="button" disabled={busy} onClick={() => void accept()} aria-label={`${t.accept} ${item.source} ${item.id}`}>{t.accept}</button>
        <details>
          <summary>{t.content}</summary>
          <dl class="headers">{item.headers.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
          {item.body_hidden !== undefined
            ? <p class="quiet">{t.hiddenBody(item.body_hidden)}</p>
            : <pre class="body" tabIndex={0} aria-label={t.body}>{item.body == null ? item.body_base64 ?? '' : prettyBody(item.body, contentType) ?? item.body}</pre>}
        </details>
      </div>
    </li>
  );
}
