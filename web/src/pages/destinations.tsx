// The destinations: what waits for each, whether it is asked at all, and the switch that holds or frees it.
import { useState } from 'preact/hooks';
import { api, type Destination } from '../api.ts';
import { count } from '../format.ts';
import { useFresh } from '../live.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Ago, Empty, ErrorNote, StateBadge, Waiting, WhenSent } from '../parts/small.tsx';
import { href } from '../route.ts';
import { useSpeech } from '../words/index.ts';

export function Destinations() {
  const { t } = useSpeech();
  const { data, error, reload } = useFresh('destinations', api.destinations, null);
  const [said, setSaid] = useState('');
  return (
    <>
      <h1>{t.pages.destinations}</h1>
      <ErrorNote error={error} retry={reload} />
      <p class="said" role="status">{said}</p>
      {data === null && error === null && <Waiting />}
      {data?.items.length === 0 && <Empty title={t.noDestination}><p>{t.noSourceYetWhy}</p></Empty>}
      <div class="cards">
        {data?.items.map((destination) => (
          <DestinationCard key={destination.name} destination={destination} onDone={(text) => { setSaid(text); reload(); }} />
        ))}
      </div>
    </>
  );
}

const WAITING_SHOWN = 20;

// The newest deliveries that wait for it, each with what it waits for.
function WhatWaits({ destination }: { destination: string }) {
  const { t } = useSpeech();
  const { data, error, reload } = useFresh(destination, async () => {
    const [pending, inFlight] = await Promise.all((['pending', 'in_flight'] as const).map((state) => api.deliveries({ destination, state, limit: WAITING_SHOWN })));
    const found = [...inFlight!.items, ...pending!.items];
    return { items: found.slice(0, WAITING_SHOWN), more: found.length > WAITING_SHOWN || pending!.next_cursor !== null || inFlight!.next_cursor !== null };
  }, null);
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {data === null && error === null && <Waiting />}
      <ul class="deliveries">
        {data?.items.map((item) => (
          <li key={item.event} data-row={item.event}>
            <a data-open class="mono wrap" href={href(['events', item.event])}>{item.key ?? item.event}</a> <StateBadge state={item.state} />{' '}
            <span class="quiet"><WhenSent delivery={item} /></span>
          </li>
        ))}
      </ul>
      {data?.more && <p class="quiet caption">{t.newestOf(data.items.length)}</p>}
    </>
  );
}

function DestinationCard({ destination, onDone }: { destination: Destination; onDone: (text: string) => void }) {
  const { t, language } = useSpeech();
  const [asking, setAsking] = useState(false);
  const [looking, setLooking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const paused = destination.paused === true;
  const set = async (pause: boolean) => {
    setBusy(true);
    setError(null);
    try {
      await api.pause(destination.name, pause);
      setAsking(false);
      onDone(pause ? t.pausedNow(destination.name) : t.resumedNow(destination.name));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const breaker = destination.breaker;
  return (
    <section class="card" aria-label={destination.name}>
      <h2>{destination.name}
        {destination.orphaned && <span class="tag warn">{t.orphaned}</span>}
        {paused && <span class="tag warn">{t.pausedTag}</span>}
        {breaker !== undefined && (
          <span class={`tag ${breaker.state === 'closed' ? 'good' : 'bad'}`}>{breaker.enabled ? t.breakers[breaker.state] : t.breakerOff}
            {breaker.open_until !== null && <> · {t.nextProbe} <Ago at={breaker.open_until} /></>}
          </span>
        )}
      </h2>
      {destination.url !== undefined && <p class="mono wrap">{destination.url}</p>}
      {destination.orphaned && <p class="note">{t.orphanedWhy}</p>}
      <dl class="numbers">
        <div><dt>{t.waiting}</dt><dd>{count(destination.waiting, language)}</dd></div>
        {destination.delivered_last_minute !== undefined && <div><dt>{t.deliveredLastMinute}</dt><dd>{count(destination.delivered_last_minute, language)}</dd></div>}
        {destination.delivered !== undefined && <div><dt>{t.delivered}</dt><dd>{count(destination.delivered, language)}</dd></div>}
        {destination.failed !== undefined && <div><dt>{t.failedAttempts}</dt><dd>{count(destination.failed, language)}</dd></div>}
      </dl>
      <ErrorNote error={error} />
      <div class="buttons">
        {!destination.orphaned && (paused
          ? <button type="button" class="primary" disabled={busy} onClick={() => void set(false)} aria-label={`${t.resume} ${destination.name}`}>{t.resume}</button>
          : <button type="button" disabled={busy} onClick={() => setAsking(true)} aria-label={`${t.pause} ${destination.name}`}>{t.pause}…</button>)}
        <a href={href(['dead'], { destination: destination.name })}>{t.pages.dead}</a>
      </div>
      {destination.waiting > 0 && (
        <details onToggle={(event) => setLooking(event.currentTarget.open)}>
          <summary>{t.whatWaits}</summary>
          {looking && <WhatWaits destination={destination.name} />}
        </details>
      )}
      {destination.timeout !== undefined && (
        <details>
          <summary>{t.settings}</summary>
          <dl class="settings">
            <dt>rate</dt><dd>{destination.rate_per_second == null ? t.unlimited : t.perSecond(destination.rate_per_second)}</dd>
            <dt>concurrency</dt><dd>{destination.concurrency}</dd>
            <dt>timeout</dt><dd>{destination.timeout}</dd>
            <dt>lease</dt><dd>{destination.lease}</dd>
            <dt>ordering</dt><dd>{String(destination.ordering)}</dd>
            <dt>resign</dt><dd>{String(destination.resign)}</dd>
            <dt>{t.secrets}</dt><dd>{t.secretCount(destination.secrets ?? 0)}</dd>
            {destination.retry !== undefined && <><dt>retry</dt><dd>{t.retryPolicy(destination.retry.first, destination.retry.max, destination.retry.attempts, destination.retry.give_up)}</dd></>}
            {breaker?.enabled && <><dt>breaker</dt><dd>{t.breakerPolicy(breaker.failure_rate, breaker.attempts, breaker.after, breaker.open, breaker.open_max)}</dd></>}
          </dl>
        </details>
      )}
      {asking && (
        <Dialog title={t.pauseTitle(destination.name)} onClose={() => setAsking(false)}>
          <p>{t.pauseWhy}</p>
          <ErrorNote error={error} />
          <div class="buttons">
            <button type="button" class="primary" disabled={busy} onClick={() => void set(true)}>{t.pause}</button>
            <button type="button" onClick={() => setAsking(false)}>{t.cancel}</button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
