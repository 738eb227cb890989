// One event: its story on one line of time, and beside it what it contains.
import { useState } from 'preact/hooks';
import { api, ApiError, isOnlyThere, sourceUrl, type Arrival, type Attempt, type Delivery, type EventDetail, type Source } from '../api.ts';
import { asCurl, prettyBody, whyBeyond } from '../content.ts';
import { bytes, clock, duration, exact } from '../format.ts';
import { useFresh, useOnce } from '../live.ts';
import { ReplayDialog } from '../parts/replay.tsx';
import { Ago, CauseName, CopyButton, Empty, ErrorNote, StateBadge, Waiting, WhenSent } from '../parts/small.tsx';
import { useSpeech } from '../words/index.ts';

export function EventPage({ id }: { id: string }) {
  const { t } = useSpeech();
  const [reveal, setReveal] = useState(false);
  const { data, error, reload } = useFresh(`${id} ${reveal}`, () => api.event(id, reveal), {});
  const [asking, setAsking] = useState<{ destination?: string } | null>(null);
  const [said, setSaid] = useState('');
  if (data === null) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) {
      return <Empty title={t.noSuchEvent}><p>{t.noSuchEventWhy}</p><p class="mono wrap">{id}</p></Empty>;
    }
    return error === null ? <Waiting /> : <ErrorNote error={error} retry={reload} />;
  }
  return (
    <article>
      <h1 class="event-name"><span class="quiet">{data.source}</span> {data.type ?? ''} <span class="mono wrap">{data.key ?? data.id}</span></h1>
      <p class="facts">
        <StateBadge state={data.state} /> <span>{t.receivedAt} <Ago at={data.received_at} /></span>
        <span>{t.arrivalsSummary(data.arrivals.length === 0 ? 1 : data.duplicates + 1)}</span>
        <span>{bytes(data.size)}</span>
        {data.ordering_key !== null && <span>{t.orderingKey} <code>{data.ordering_key}</code></span>}
        <span class="buttons">
          <button type="button" class="primary" data-replay onClick={() => setAsking({})} disabled={data.deliveries.length === 0}>{t.replay}…</button>
        </span>
      </p>
      <p class="facts quiet"><span>{t.eventId} <code class="wrap">{data.id}</code></span> <CopyButton text={data.id} /></p>
      <ErrorNote error={error} retry={reload} />
      <p class="said" role="status">{said}</p>
      <div class="halves">
        <section aria-labelledby="story"><h2 id="story">{t.story}</h2><Story event={data} onReplay={(destination) => setAsking({ destination })} /></section>
        <section aria-labelledby="content"><h2 id="content">{t.content}</h2><ContentOf event={data} reveal={reveal} onReveal={() => setReveal(!reveal)} /></section>
      </div>
      {asking !== null && (
        <ReplayDialog target={{ id, label: data.key ?? data.id, deliveries: data.deliveries, ...asking }}
                      onClose={() => setAsking(null)} onDone={(text) => { setAsking(null); setSaid(text); reload(); }} />
      )}
    </article>
  );
}

type Moment = { at: number } & ({ arrival: Arrival } | { attempt: Attempt; destination: string; replayed: boolean });

// Where a person certainly sent it again: at the first attempt that began after a recorded success. Its retries follow from it, and
// where a dead delivery was replayed, the attempts do not show at which; the delivery says that it was.
function beginsReplay(delivery: Delivery, at: number): boolean {
  const before = delivery.attempts[at - 1];
  const attempt = delivery.attempts[at]!;
  return delivery.replayed && before?.outcome === 'success' && Date.parse(before.started_at) + (before.duration_ms ?? 0) <= Date.parse(attempt.started_at);
}

function storyOf(event: EventDetail): Moment[] {
  const moments: Moment[] = event.arrivals.map((arrival) => ({ at: Date.parse(arrival.at), arrival }));
  for (const delivery of event.deliveries) {
    delivery.attempts.forEach((attempt, at) => {
      moments.push({ at: Date.parse(attempt.started_at), attempt, destination: delivery.destination, replayed: beginsReplay(delivery, at) });
    });
  }
  return moments.map((moment, at) => ({ moment, at })).sort((a, b) => a.moment.at - b.moment.at || a.at - b.at).map(({ moment }) => moment);
}

function Story({ event, onReplay }: { event: EventDetail; onReplay: (destination: string) => void }) {
  const { t, language } = useSpeech();
  const first = Date.parse(event.arrivals[0]?.at ?? event.received_at);
  return (
    <>
      <ol class="story">
        {storyOf(event).map((moment) => (
          <li class={'arrival' in moment ? `arrival verdict-${moment.arrival.verdict}` : `attempt outcome-${moment.attempt.outcome ?? 'running'}`}>
            <time title={exact(new Date(moment.at).toISOString())} dateTime={new Date(moment.at).toISOString()}>{clock(new Date(moment.at).toISOString())}</time>
            <span class="offset">{moment.at > first ? `+${duration(moment.at - first, language)}` : ''}</span>
            <div>{'arrival' in moment
              ? <ArrivalText arrival={moment.arrival} />
              : <AttemptText attempt={moment.attempt} destination={moment.destination} replayed={moment.replayed} />}</div>
          </li>
        ))}
      </ol>
      {event.duplicates + 1 > event.arrivals.length && event.arrivals.length > 0 &&
        <p class="quiet">{t.moreArrivals(event.duplicates + 1 - event.arrivals.length)}</p>}
      {event.reason !== undefined && <p class="note">{event.reason}</p>}
      {event.deliveries.length > 0 && (
        <ul class="deliveries">
          {event.deliveries.map((delivery) => (
            <li>
              <strong>{delivery.destination}</strong> <StateBadge state={delivery.state} />
              {delivery.replayed && <span class="tag">{t.replayedTag}</span>}
              {delivery.orphaned && <span class="tag warn">{t.orphaned}</span>}
              <WhenSent delivery={delivery} />
              {delivery.delivered_at !== null && <span class="quiet">{t.afterFirst(duration(Date.parse(delivery.delivered_at) - first, language))}</span>}
              <button type="button" class="small" onClick={() => onReplay(delivery.destination)} aria-label={`${t.replay} ${delivery.destination}`}>{t.replay}</button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ArrivalText({ arrival }: { arrival: Arrival }) {
  const { t, language } = useSpeech();
  // The gateway knows the evidence, and says it in English.
  const general = t.causeWhy[arrival.cause as keyof typeof t.causeWhy];
  const why = language === 'en' && arrival.cause !== 'first' ? arrival.reason ?? general : general;
  return (
    <>
      <strong>{t.verdicts[arrival.verdict as keyof typeof t.verdicts] ?? arrival.verdict}</strong>{' '}
      {arrival.cause !== 'first' && <CauseName cause={arrival.cause} />}
      {arrival.certain === false && <span class="tag">{t.probably}</span>}
      <span class="evidence">
        <span>{t.from} <code>{arrival.remote}</code></span>
        <span>{t.secretNumber(arrival.secret + 1)}</span>
        {arrival.retry !== null && <span>{t.retryHeader(arrival.retry.number)}{arrival.retry.reason !== null && ` (${arrival.retry.reason})`}</span>}
        {arrival.cause !== 'first' && <span>{arrival.same_body ? t.sameBytes : t.otherBytes}</span>}
        {arrival.same_key === false && <span>{t.otherKey}</span>}
        {arrival.same_signature !== null && arrival.cause !== 'first' && <span>{arrival.same_signature ? t.sameSignature : t.newSignature}</span>}
        {arrival.provider_time !== null && <span>{t.signedAt} <time title={exact(arrival.provider_time)} dateTime={arrival.provider_time}>{clock(arrival.provider_time)}</time></span>}
      </span>
      {why !== undefined && <p class="why">{why}</p>}
    </>
  );
}

function AttemptText({ attempt, destination, replayed }: { attempt: Attempt; destination: string; replayed: boolean }) {
  const { t, language } = useSpeech();
  const why = whyBeyond(attempt.status, attempt.error);
  return (
    <>
      <strong>{t.attempt(attempt.number)}</strong> → {destination}{' '}
      <span class={`tag ${attempt.outcome === 'success' ? 'good' : attempt.outcome === 'failed' ? 'bad' : ''}`}>
        {attempt.outcome === null ? t.running : t.outcomes[attempt.outcome]}{attempt.status !== null && ` ${attempt.status}`}
      </span>
      {attempt.duration_ms !== null && <span class="quiet"> {duration(attempt.duration_ms, language)}</span>}
      {replayed && <span class="tag">{t.replayedTag}</span>}
      {why !== '' && <p class="why">{why}</p>}
      {attempt.response !== null && attempt.response !== '' && <details><summary>{t.response}</summary><pre>{attempt.response}</pre></details>}
    </>
  );
}

// What the copied command does, and what keeps it from doing it.
function CurlNote({ event, source, masked }: { event: EventDetail; source: Source; masked: boolean }) {
  const { t } = useSpeech();
  const url = sourceUrl(source);
  const signed = event.arrivals[0]?.provider_time ?? null;
  return (
    <p class="quiet caption">
      {t.curlTo} <code class="wrap">{url}</code>{isOnlyThere(url) && t.curlThere}{t.curlEnd}
      {signed !== null && <> {t.curlStale(source.tolerance)} <time dateTime={signed}>{exact(signed)}</time>{t.curlStaleThen}</>}
      {masked && <> {t.curlMasked}</>}
    </p>
  );
}

function ContentOf({ event, reveal, onReveal }: { event: EventDetail; reveal: boolean; onReveal: () => void }) {
  const { t } = useSpeech();
  const [raw, setRaw] = useState(false);
  const sources = useOnce(api.sources)?.items;
  const contentType = event.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const pretty = event.body == null ? null : prettyBody(event.body, contentType);
  const shown = raw || pretty === null ? event.body ?? event.body_base64 ?? '' : pretty;
  const masked = event.headers.some(([, value]) => value === '[masked]');
  // Such a request was never sent, so it is not offered as a command.
  const redacted = event.body_hidden !== undefined || event.headers.some(([, value]) => value === '[redacted]') || (event.body ?? '').includes('[redacted]');
  const source = sources?.find((item) => item.name === event.source);
  return (
    <>
      <div class="bar">
        {pretty !== null && (
          <span class="switch" role="group" aria-label={t.body}>
            <button type="button" class="small" aria-pressed={!raw} onClick={() => setRaw(false)}>{t.pretty}</button>
            <button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(true)}>{t.raw}</button>
          </span>
        )}
        {event.body_hidden === undefined && <CopyButton text={event.body ?? event.body_base64 ?? ''} label={t.copyBody} />}
        {!redacted && source?.url != null && <CopyButton text={asCurl(event, sourceUrl(source))} label={t.copyCurl} />}
      </div>
      {!redacted && source?.url != null && <CurlNote event={event} source={source} masked={masked} />}
      {event.body_base64 !== undefined && <p class="quiet">{t.notUtf8}</p>}
      {shown === '' ? <p class="quiet">{event.body_hidden === undefined ? t.emptyBody : t.hiddenBody(event.body_hidden)}</p> : <pre class="body" tabIndex={0} aria-label={t.body}>{shown}</pre>}
      <h3>{t.headers} <span class="quiet">{event.headers.length}</span></h3>
      <dl class="headers">
        {event.headers.map(([name, value]) => <><dt>{name}</dt><dd>{value === '' ? <span class="quiet">{t.emptyValue}</span> : value}</dd></>)}
      </dl>
      {(masked || reveal) && <button type="button" class="small" onClick={onReveal}>{reveal ? t.mask : t.reveal}</button>}
    </>
  );
}
