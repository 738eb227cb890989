// Dead letters: what used up its attempts, why, and sending many of them again after a look at how many.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, isMissing, type DeliveryRow, type ReplayFilter } from '../api.ts';
import { brokenOff, keepBrokenOff, NOT_BEGUN, PART, replayInParts, type Progress } from '../bulk.ts';
import { count } from '../format.ts';
import { useList } from '../list.ts';
import { useOnce } from '../live.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ReplayDialog, type ReplayTarget } from '../parts/replay.tsx';
import { Ago, AnswerText, Empty, ErrorNote, More, NotYet, Waiting } from '../parts/small.tsx';
import { href, replaceRoute } from '../route.ts';
import { useSpeech } from '../words/index.ts';

export function DeadLetters({ filter }: { filter: Record<string, string> }) {
  const { t } = useSpeech();
  const { source, destination } = filter;
  const key = JSON.stringify([source, destination]);
  const { page, error, reload, more } = useList(key, (part) => api.deliveries({ source, destination, state: 'dead', ...part }), { source });
  const names = useOnce(async () => {
    const [sources, destinations] = await Promise.all([api.sources(), api.destinations()]);
    return { sources: sources.items.map((item) => item.name), destinations: destinations.items.map((item) => item.name) };
  }) ?? { sources: [], destinations: [] };
  const [target, setTarget] = useState<ReplayTarget | null>(null);
  const [bulk, setBulk] = useState(brokenOff() !== null);
  const [said, setSaid] = useState('');
  const [askError, setAskError] = useState<unknown>(null);
  // A row may be older than what became of its delivery since.
  const ask = async (item: DeliveryRow) => {
    setAskError(null);
    try {
      const { deliveries } = await api.event(item.event);
      const destination = deliveries.some((delivery) => delivery.destination === item.destination) ? { destination: item.destination } : {};
      setTarget({ id: item.event, label: item.key ?? item.event, deliveries, ...destination });
    } catch (failure) {
      setAskError(failure);
    }
  };
  if (page === null && isMissing(error)) return <><h1>{t.pages.dead}</h1><NotYet /></>;
  const items = page?.items ?? [];
  const next = page?.next_cursor ?? null;
  return (
    <>
      <h1>{t.pages.dead}</h1>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label={t.source} value={source} names={names.sources} onValue={(value) => replaceRoute(['dead'], { ...filter, source: value })} />
        <Choice label={t.destination} value={destination} names={names.destinations} onValue={(value) => replaceRoute(['dead'], { ...filter, destination: value })} />
        {items.length > 0 && <button type="button" class="primary" onClick={() => setBulk(true)}>{t.replayAll}…</button>}
      </form>
      <ErrorNote error={error ?? askError} retry={reload} />
      <p class="said" role="status">{said}</p>
      {page === null && error === null && <Waiting />}
      {page !== null && items.length === 0 && next === null && <Empty title={t.noDead}><p>{t.noDeadWhy}</p></Empty>}
      {items.length > 0 && (
        <table class="rows dead">
          <thead><tr>
            <th scope="col">{t.receivedAt}</th><th scope="col">{t.source}</th><th scope="col">{t.type}</th><th scope="col">{t.key}</th>
            <th scope="col">{t.destination}</th><th scope="col">{t.lastAnswer}</th><th scope="col" class="number">{t.attempts}</th>
            <th scope="col"><span class="offscreen">{t.replay}</span></th>
          </tr></thead>
          <tbody>
            {items.map((item) => (
              <tr key={`${item.event} ${item.destination}`} data-row={item.event}>
                <td class="when"><Ago at={item.received_at} /></td>
                <td class="source">{item.source}</td>
                <td class="type">{item.type ?? <span class="quiet">—</span>}</td>
                <td class="key mono"><a data-open href={href(['events', item.event])} title={item.key ?? item.event}>{item.key ?? item.event}</a></td>
                <td class="to">{item.destination}{item.orphaned && <span class="tag warn">{t.orphaned}</span>}</td>
                <td class="what"><AnswerText status={item.last_status} error={item.last_error} /></td>
                <td class="number"><span class="on-phone">{t.attempts} </span>{item.attempts}</td>
                <td class="act"><button type="button" class="small" data-replay aria-label={`${t.replay} ${item.key ?? item.event}`}
                        onClick={() => void ask(item)}>{t.replay}</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next !== null && <More found={items.length > 0} until={items.length === 0 ? page?.searched_until ?? null : null} onMore={more} />}
      {target !== null && <ReplayDialog target={target} onClose={() => setTarget(null)} onDone={(text) => { setTarget(null); setSaid(text); reload(); }} />}
      {bulk && <BulkReplay filter={{ dead: true, ...(source ? { source } : {}), ...(destination ? { destination } : {}) }}
                           onClose={() => { setBulk(false); reload(); }} />}
    </>
  );
}

function Choice({ label, value, names, onValue }: { label: string; value: string | undefined; names: string[]; onValue: (value: string) => void }) {
  const { t } = useSpeech();
  const all = value && !names.includes(value) ? [...names, value] : names;
  return (
    <label>{label}
      <select value={value ?? ''} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="">{t.all}</option>
        {all.map((name) => <option value={name}>{name}</option>)}
      </select>
    </label>
  );
}

// First how many, then whether, then how far. One that broke off is there again, as it was, and can go on.
function BulkReplay({ filter, onClose }: { filter: ReplayFilter; onClose: () => void }) {
  const { t, language } = useSpeech();
  const [before] = useState(brokenOff);
  const asked = before?.filter ?? filter;
  const [matched, setMatched] = useState<number | null>(before?.matched ?? null);
  const [newKey, setNewKey] = useState(asked.new_key ?? false);
  const [progress, setProgress] = useState<Progress | null>(before?.progress ?? null);
  const [running, setRunning] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [error, setError] = useState<unknown>(before?.error ?? null);
  const stop = useRef(false);
  const closed = useRef(false);  // by the reader; the sign-in page takes it away unasked
  const close = () => {
    closed.current = true;
    keepBrokenOff(null);
    onClose();
  };
  useEffect(() => {
    if (before === null) api.replays({ ...filter, dry_run: true }).then((answer) => setMatched(answer.matched), setError);
    return () => {
      stop.current = true;  // a closed question sends nothing more
    };
  }, []);
  const send = async () => {
    if (matched === null) return;
    const wanted = { ...asked, ...(newKey ? { new_key: true } : {}) };
    let last: Progress = { ...(progress ?? NOT_BEGUN), stopped: false };
    const say = (now: Progress) => setProgress(last = now);
    stop.current = false;
    keepBrokenOff(null);
    setStopping(false);
    setRunning(true);
    setError(null);
    say(last);
    try {
      say(await replayInParts(wanted, last, () => stop.current, say));
      if (!last.done && !closed.current) keepBrokenOff({ filter: wanted, matched, progress: last, error: null });
    } catch (failure) {
      if (!closed.current) keepBrokenOff({ filter: wanted, matched, progress: last, error: failure });
      setError(failure);
    } finally {
      setRunning(false);
    }
  };
  const number = (value: number) => count(value, language);
  const ended = progress?.done ?? false;
  const failed = progress !== null && error !== null;
  const to = asked.destination ?? t.allDestinations;
  return (
    <Dialog title={t.replayAllTitle} onClose={close}>
      {matched === null && error === null && <Waiting />}
      {matched !== null && <p>{t.replayAllPreview(number(matched), asked.source ?? t.allSources, to)}</p>}
      {progress === null && matched !== null && (
        <>
          <p>{newKey ? t.replayWithNewKey(to) : t.replayManyDead(to)}</p>
          <label class="check"><input type="checkbox" checked={newKey} onChange={(event) => setNewKey(event.currentTarget.checked)} /> {t.useNewKey}</label>
        </>
      )}
      {progress !== null && matched !== null && (
        <>
          <progress max={Math.max(1, matched)} value={Math.min(progress.sent, matched)} aria-label={t.progress} />
          <p role="status">{progress.done ? t.replayAllDone(number(progress.sent))
            : failed ? t.replayAllFailed(number(progress.sent), number(matched), number(PART))
            : progress.stopped ? t.replayAllStopped(number(progress.sent), number(matched)) : t.replayAllRunning(number(progress.sent), number(matched))}</p>
        </>
      )}
      <ErrorNote error={error} />
      <div class="buttons">
        {!ended && <button type="button" class="primary" disabled={running || matched === null || matched === 0} onClick={() => void send()}>
          {progress !== null && !running ? t.goOn : t.replayAllNow(number(matched ?? 0))}
        </button>}
        {running
          ? <button type="button" disabled={stopping} onClick={() => { stop.current = true; setStopping(true); }}>{t.stop}</button>
          : <button type="button" onClick={close}>{progress !== null ? t.close : t.cancel}</button>}
      </div>
    </Dialog>
  );
}
