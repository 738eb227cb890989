// The sources: the URL to paste at the provider, what arrives there, and why it came twice. Secrets are counted, never shown.
import { api, sourceUrl, type Source } from '../api.ts';
import { count, percent } from '../format.ts';
import { causeShares } from '../health.ts';
import { useFresh } from '../live.ts';
import { AlarmNote } from '../parts/alarm.tsx';
import { CauseName, CopyButton, ErrorNote, Waiting } from '../parts/small.tsx';
import { href } from '../route.ts';
import { useSpeech } from '../words/index.ts';
import { NoSourceYet } from './events.tsx';

// These providers' requests carry no id of their own.
const KEYLESS = ['hmac', 'token', 'none'];

export function Sources() {
  const { t } = useSpeech();
  const { data, error, reload } = useFresh('sources', api.sources, null);
  return (
    <>
      <h1>{t.pages.sources}</h1>
      <ErrorNote error={error} retry={reload} />
      {data === null && error === null && <Waiting />}
      {data?.items.length === 0 && <NoSourceYet />}
      <div class="cards">{data?.items.map((source) => <SourceCard key={source.name} source={source} />)}</div>
    </>
  );
}

function SourceCard({ source }: { source: Source }) {
  const { t, language } = useSpeech();
  const { counts } = source;
  const shares = causeShares(counts.causes ?? {});
  const url = sourceUrl(source);
  return (
    <section class="card" aria-label={source.name}>
      <h2>{source.name} {source.provider !== source.name && <span class="quiet">{source.provider}</span>}</h2>
      <AlarmNote source={source} linked />
      <p class="quiet">{t.pasteUrl(source.provider)}</p>
      <p class="command"><code class="wrap">{url}</code> <CopyButton text={url} /></p>
      <dl class="numbers">
        <div><dt>{t.accepted}</dt><dd><a href={href(['events'], { source: source.name })}>{count(counts.accepted, language)}</a></dd></div>
        <div><dt>{t.duplicates}</dt><dd>{count(counts.duplicates, language)} <span class="quiet">{percent(counts.duplicates, counts.accepted + counts.duplicates)}</span></dd></div>
        <div><dt>{t.rejected}</dt><dd><a href={href(['rejected'], { source: source.name })}>{count(counts.rejected, language)}</a></dd></div>
        <div><dt>{t.lastMinute}</dt><dd>{count(counts.accepted_last_minute + counts.duplicates_last_minute, language)}</dd></div>
      </dl>
      {shares.length > 0 && <p>{t.whyTwice} {shares.map(({ cause, count: n }) => <span class="tag"><CauseName cause={cause} /> {count(n, language)}</span>)}</p>}
      <p><span class="quiet">{t.goesTo}</span> {source.destinations.map((destination) => <span class="tag">{destination.name}{destination.types.length > 0 && ` (${destination.types.join(', ')})`}{destination.when.length > 0 && <> {t.conditional} <code>{destination.when.join(', ')}</code></>}</span>)}</p>
      <details>
        <summary>{t.settings}</summary>
        <dl class="settings">
          <dt>{t.secrets}</dt><dd>{t.secretCount(source.secrets)}</dd>
          <dt>{t.path}</dt><dd><code>{source.path}</code></dd>
          <dt>dedup_key</dt><dd>{source.dedup_key.length === 0 ? (!KEYLESS.includes(source.provider) ? t.providersOwn : source.missing_key === 'accept' ? t.noKey : '—') : <code>{source.dedup_key.join(' + ')}</code>}</dd>
          {source.dedup_also.length > 0 && <><dt>dedup_also</dt><dd><code>{source.dedup_also.join(', ')}</code></dd></>}
          <dt>dedup_window</dt><dd>{source.dedup_window}</dd>
          <dt>missing_key</dt><dd>{source.missing_key}</dd>
          <dt>tolerance</dt><dd>{source.tolerance}</dd>
          <dt>mode</dt><dd>{source.mode}</dd>
          {source.late_answer !== null && <><dt>late_answer</dt><dd><code>{source.late_answer.body || t.emptyValue}</code></dd></>}
          {source.late_reply !== null && <><dt>late_reply</dt><dd><code>response_url</code></dd></>}
          <dt>rearm</dt><dd>{String(source.rearm)}</dd>
          <dt>ack_deadline</dt><dd>{source.ack_deadline}</dd>
          {source.ordering_key !== null && <><dt>ordering_key</dt><dd><code>{source.ordering_key}</code></dd></>}
        </dl>
      </details>
    </section>
  );
}
