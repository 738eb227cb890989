// Rejected requests: why each was refused, what it held, and accepting it once the secret is right.
import { useState } from 'preact/hooks';
import { api, ApiError, isMissing, type Rejected } from '../api.ts';
import { prettyBody } from '../content.ts';
import { bytes, count } from '../format.ts';
import { useList } from '../list.ts';
import { useFresh } from '../live.ts';
import { AlarmNote } from '../parts/alarm.tsx';
import { Ago, Empty, ErrorNote, messageOf, More, NotYet, Waiting } from '../parts/small.tsx';
import { href, replaceRoute } from '../route.ts';
import { useSpeech } from '../words/index.ts';

const KEPT_SHOWN = 16 * 1024;  // bytes of a body that the call shows

// One that has been accepted from here. The gateway's list has it no more; the reader's keeps it where it was, and says what it became.
interface Accepted {
  item: Rejected;
  status: string;
  event: string;
}

export function RejectedPage({ filter }: { filter: Record<string, string> }) {
  const { t } = useSpeech();
  const source = filter.source;
  const key = source ?? '';
  const { page, error, reload, more } = useList(key, (part) => api.rejected({ source, ...part }), { source });
  const sources = useFresh('sources', api.sources, null).data?.items ?? [];
  const names = sources.map((item) => item.name);
  const [accepted, setAccepted] = useState<Record<string, Accepted>>({});
  if (page === null && isMissing(error)) return <><h1>{t.pages.rejected}</h1><NotYet /></>;
  const next = page?.next_cursor ?? null;
  const listed = new Map((page?.items ?? []).map((item) => [item.id, item]));
  for (const { item } of Object.values(accepted)) if (key === '' || item.source === key) listed.set(item.id, item);
  const items = [...listed.values()].sort((a, b) => b.first_at.localeCompare(a.first_at) || b.id.localeCompare(a.id));
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
      <ErrorNote error={error} retry={reload} />
      {sources.filter((item) => key === '' || item.name === key).map((item) => <AlarmNote key={item.name} source={item} />)}
      {page === null && error === null && <Waiting />}
      {page !== null && items.length === 0 && next === null && <Empty title={t.noRejected}><p>{t.noRejectedWhy}</p></Empty>}
      {items.length > 0 && <p class="quiet">{t.acceptHint}</p>}
      <ul class="rejected">{items.map((item) => (
        <RejectedItem key={item.id} item={item} accepted={accepted[item.id]} onGone={reload}
                      onAccepted={(status, event) => { setAccepted((old) => ({ ...old, [item.id]: { item, status, event } })); reload(); }} />
      ))}</ul>
      {next !== null && <More found={items.length > 0} onMore={more} />}
    </>
  );
}

interface ItemProps {
  item: Rejected;
  accepted: Accepted | undefined;
  onAccepted: (status: string, event: string) => void;
  onGone: () => void;
}

function RejectedItem({ item, accepted, onAccepted, onGone }: ItemProps) {
  const { t, language } = useSpeech();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const accept = async () => {
    setBusy(true);
    try {
      const answer = await api.accept(item.id);
      setRefusal('');
      onAccepted(answer.status, answer.id);
    } catch (failure) {
      const gone = failure instanceof ApiError && failure.code === 'no_such_rejected';
      setRefusal(gone ? t.acceptGone : t.acceptFailed(messageOf(failure)));
      if (gone) onGone();
    } finally {
      setBusy(false);
    }
  };
  // What is cut is laid out as it came: its end is missing.
  const contentType = item.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const shown = item.body == null ? item.body_base64 ?? '' : (!item.body_cut && prettyBody(item.body, contentType)) || item.body;
  return (
    <li class="card" data-row={item.id}>
      <div class="facts">
        <strong>{item.source}</strong> <span class="tag bad">{t.codes[item.code as keyof typeof t.codes] ?? item.code}</span>
        <Ago at={item.last_at} />
        {item.count > 1 && <span class="tag">{t.times(count(item.count, language))}</span>}
        <span class="quiet">{t.from} <code>{item.remote}</code> · {bytes(item.size)}</span>
        {accepted === undefined &&
          <button type="button" class="at-end" disabled={busy} onClick={() => void accept()} aria-label={`${t.accept} ${item.source} ${item.id}`}>{t.accept}</button>}
      </div>
      {/* The gateway knows what it found out, and says it in English. */}
      {language !== 'en' && t.codesWhy[item.code as keyof typeof t.codesWhy] !== undefined && <p>{t.codesWhy[item.code as keyof typeof t.codesWhy]}</p>}
      <p class={language === 'en' ? '' : 'quiet'}>{item.reason}</p>
      {item.count > 1 && <p class="quiet">{t.firstSeen} <Ago at={item.first_at} /></p>}
      {refusal !== '' && <p class="note bad" role="alert">{refusal}</p>}
      <p class="note good" role="status">{accepted !== undefined &&
        <>{t.acceptedAs[accepted.status as keyof typeof t.acceptedAs] ?? accepted.status} <a href={href(['events', accepted.event])}>{t.openEvent}</a></>}</p>
      <details>
        <summary>{t.content}</summary>
        <dl class="headers">{item.headers.map(([name, value]) => <><dt>{name}</dt><dd>{value === '' ? <span class="quiet">{t.emptyValue}</span> : value}</dd></>)}</dl>
        {item.body_hidden !== undefined
          ? <p class="quiet">{t.hiddenBody(item.body_hidden)}</p>
          : shown === '' ? <p class="quiet">{t.emptyBody}</p> : <pre class="body" tabIndex={0} aria-label={t.body}>{shown}</pre>}
        {item.body_base64 !== undefined && <p class="quiet">{t.notUtf8}</p>}
        {item.body_cut && <p class="note">{t.bodyCut(bytes(KEPT_SHOWN), bytes(item.size))}</p>}
      </details>
    </li>
  );
}
