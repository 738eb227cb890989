// Whether all is well, in one line; then the numbers, how they went over time, why things came twice, and what needs a person.
import { useMemo } from 'preact/hooks';
import { api, gatewayNow, isMissing, type Destination, type History, type Source, type Stats } from '../api.ts';
import { age, count, duration, percent } from '../format.ts';
import { causeShares, problemsOf, total, wellness, type Problem } from '../health.ts';
import { useFresh } from '../live.ts';
import { Plot, type Line } from '../parts/plot.tsx';
import { Ago, CauseName, ErrorNote, useTick, Waiting } from '../parts/small.tsx';
import { href, replaceRoute } from '../route.ts';
import { useSpeech } from '../words/index.ts';
import { NoEventYet, NoSourceYet } from './events.tsx';

const RANGES = ['60', '360', '1440'] as const;
// Each has a colour of its own in style.css; one that a newer gateway names shares the grey.
const CAUSES = ['concurrent_twin', 'provider_retry', 'manual_resend', 'replayed_request', 'same_id_other_body', 'semantic_twin'];
const colorOf = (cause: string) => (CAUSES.includes(cause) ? `--cause-${cause}` : '--cause-other');

export function Overview({ filter, theme }: { filter: Record<string, string>; theme: string }) {
  const { t } = useSpeech();
  const minutes = RANGES.find((range) => range === filter.minutes) ?? '60';
  const now = useFresh('overview', async () => {
    const [stats, sources, destinations] = await Promise.all([api.stats(), api.sources(), api.destinations()]);
    return { stats, sources: sources.items, destinations: destinations.items };
  }, null);
  const past = useFresh(minutes, () => api.history(Number(minutes)).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  }), null);
  if (now.data === null) return now.error === null ? <Waiting /> : <ErrorNote error={now.error} retry={now.reload} />;
  const { stats, sources, destinations } = now.data;
  const problems = problemsOf(stats, sources, destinations, gatewayNow());
  const causes = total(sources.map((source) => source.counts.causes ?? {}));
  return (
    <>
      <h1 class="offscreen">{t.pages.overview}</h1>
      <ErrorNote error={now.error} retry={now.reload} />
      <TopLine stats={stats} problems={problems} stale={now.error !== null} />
      <Tiles stats={stats} sources={sources} destinations={destinations} causes={causes} />
      {sources.length === 0 ? <NoSourceYet /> : stats.events === 0 && <NoEventYet />}
      <div class="pair">
        <section aria-labelledby="needs"><h2 id="needs">{t.needsYou}</h2><NeedsYou problems={problems} /></section>
        <section aria-labelledby="twice"><h2 id="twice">{t.whyTwice}</h2><WhyTwice causes={causes} duplicates={sources.reduce((sum, source) => sum + source.counts.duplicates, 0)} /></section>
      </div>
      {past.data !== null && past.data.points.length > 0 && (
        <section aria-labelledby="time">
          <div class="bar"><h2 id="time">{t.overTime}</h2>
            <select aria-label={t.overTime} value={minutes} onChange={(event) => replaceRoute([], { minutes: event.currentTarget.value })}>
              {RANGES.map((range) => <option value={range}>{t.ranges[range]}</option>)}
            </select>
          </div>
          <Plots history={past.data} theme={theme} />
        </section>
      )}
    </>
  );
}

function TopLine({ stats, problems, stale }: { stats: Stats; problems: Problem[]; stale: boolean }) {
  useTick();
  const { t, language } = useSpeech();
  const state = stale ? 'bad' : wellness(problems);
  const oldest = stats.deliveries.oldest_pending_at;
  const waits = oldest === null ? t.nothingWaits : t.waitsSince(count(stats.deliveries.pending + stats.deliveries.in_flight, language), age(gatewayNow() - Date.parse(oldest), language));
  const worst = problems[0];
  return (
    <p class={`topline ${state}`} role="status">
      <span aria-hidden="true" class="lamp">●</span>{' '}
      {stale ? t.lostTouch : state === 'well' ? `${t.allWell} ${waits}` : <><ProblemText problem={worst!} />{problems.length > 1 && <> <span class="quiet">{t.andMore(problems.length - 1)}</span></>}</>}
    </p>
  );
}

function Tiles({ stats, sources, destinations, causes }: { stats: Stats; sources: Source[]; destinations: Destination[]; causes: Record<string, number> }) {
  const { t, language } = useSpeech();
  const counts = total(Object.values(stats.sources).map(({ causes: _, ...numbers }) => numbers as unknown as Record<string, number>));
  const delivered = stats.deliveries.delivered ?? (destinations.some((d) => d.delivered !== undefined) ? destinations.reduce((sum, d) => sum + (d.delivered ?? 0), 0) : null);
  const waiting = stats.deliveries.pending + stats.deliveries.in_flight;
  const why = causeShares(causes).slice(0, 3).map(({ cause, count: n }) => `${t.causes[cause as keyof typeof t.causes] ?? cause} ${count(n, language)}`).join(', ');
  const perMinute = sources.reduce((sum, source) => sum + source.counts.accepted_last_minute, 0);
  return (
    <>
      <dl class="tiles">
        <Tile name="accepted" label={t.accepted} value={counts.accepted ?? 0} to={href(['events'])} note={t.perMinute(count(perMinute, language))} />
        <Tile name="duplicates" label={t.duplicates} value={counts.duplicates ?? 0} note={why} />
        <Tile name="rejected" label={t.rejected} value={counts.rejected ?? 0} to={href(['rejected'])} />
        {delivered !== null && <Tile name="delivered" label={t.delivered} value={delivered} to={href(['events'], { state: 'delivered' })} />}
        <Tile name="dead" label={t.dead} value={stats.deliveries.dead} to={href(['dead'])} alarming={stats.deliveries.dead > 0} />
        <Tile name="waiting" label={t.waiting} value={waiting} to={href(['events'], { state: 'pending' })}
              note={stats.deliveries.oldest_pending_at === null ? '' : <>{t.oldest} <Ago at={stats.deliveries.oldest_pending_at} /></>} />
      </dl>
      <p class="quiet caption">{t.sinceStart}</p>
    </>
  );
}

function Tile({ name, label, value, note, to, alarming }: { name: string; label: string; value: number; note?: preact.ComponentChildren; to?: string; alarming?: boolean }) {
  const { language } = useSpeech();
  const number = count(value, language);
  return (
    <div class={alarming ? 'alarming' : ''} data-tile={name}>
      <dt>{label}</dt>
      <dd><strong>{to === undefined ? number : <a href={to}>{number}</a>}</strong>{note ? <span class="quiet">{note}</span> : null}</dd>
    </div>
  );
}

function ProblemText({ problem }: { problem: Problem }) {
  const { t, language } = useSpeech();
  switch (problem.kind) {
    case 'store': return <>{t.problemStore}{problem.why !== null && `: ${problem.why}`}</>;
    case 'draining': return <>{t.problemDraining}</>;
    case 'breaker': return <a href={href(['destinations'])}>{t.problemBreaker(problem.destination)}</a>;
    case 'late': return <a href={href(['events'], { state: 'pending' })}>{t.problemLate} <Ago at={problem.at} /></a>;
    case 'alarm': return <a href={href(['rejected'], { source: problem.source })}>{t.problemAlarm(problem.source, count(problem.perMinute, language), t.codes[problem.code as keyof typeof t.codes] ?? problem.code)}</a>;
    case 'dead': return <a href={href(['dead'])}>{t.problemDead(problem.count)}</a>;
    case 'orphaned': return <a href={href(['destinations'])}>{t.problemOrphaned(problem.count)}</a>;
    case 'paused': return <a href={href(['destinations'])}>{t.problemPaused(problem.destination, problem.waiting)}</a>;
    case 'weakness': return <>{problem.text}</>;
  }
}

function NeedsYou({ problems }: { problems: Problem[] }) {
  const { t } = useSpeech();
  if (problems.length === 0) return <p class="quiet">{t.needsNothing}</p>;
  return <ul class="needs">{problems.map((problem) => <li><ProblemText problem={problem} /></li>)}</ul>;
}

function WhyTwice({ causes, duplicates }: { causes: Record<string, number>; duplicates: number }) {
  const { t, language } = useSpeech();
  const shares = causeShares(causes);
  const all = shares.reduce((sum, share) => sum + share.count, 0);
  if (all === 0) return <p class="quiet">{duplicates === 0 ? t.noDuplicates : t.causesUnknown}</p>;
  return (
    <ul class="shares">
      {shares.map(({ cause, count: n }) => (
        <li>
          <span class="share-bar" style={{ width: `${Math.max(1, (100 * n) / all)}%`, background: `var(${colorOf(cause)})` }} />
          <span class="share"><strong>{percent(n, all)}</strong> <CauseName cause={cause} /> <span class="quiet">{count(n, language)}</span></span>
          <span class="why">{t.causeWhy[cause as keyof typeof t.causeWhy]}</span>
        </li>
      ))}
    </ul>
  );
}

function Plots({ history, theme }: { history: History; theme: string }) {
  const { t, language } = useSpeech();
  const { points } = history;
  const times = useMemo(() => points.map((point) => Date.parse(point.at) / 1000), [points]);
  const arrivals = useMemo<Line[]>(() => {
    const causes = causeShares(total(points.map((point) => point.causes ?? {}))).map(({ cause }) => cause);
    return [
      { label: t.accepted, color: '--plot-good', values: points.map((point) => point.accepted) },
      ...causes.map((cause) => ({ label: t.causes[cause as keyof typeof t.causes] ?? cause, color: colorOf(cause),
                                  values: points.map((point) => point.causes?.[cause] ?? 0) })),
    ];
  }, [points, t]);
  const ends = useMemo<Line[]>(() => [
    { label: t.delivered, color: '--plot-good', values: points.map((point) => point.delivered) },
    { label: t.dead, color: '--plot-dead', values: points.map((point) => point.dead) },
    { label: t.rejected, color: '--plot-rejected', values: points.map((point) => point.rejected) },
  ], [points, t]);
  const quantiles = (name: 'answer_ms' | 'delivery_ms'): Line[] => [
    { label: 'p50', color: '--plot-good', values: points.map((point) => point[name]?.p50 ?? null) },
    { label: 'p99', color: '--plot-rejected', values: points.map((point) => point[name]?.p99 ?? null) },
  ];
  const answer = useMemo(() => quantiles('answer_ms'), [points]);
  const delivery = useMemo(() => quantiles('delivery_ms'), [points]);
  const number = (value: number) => count(Math.round(value), language);
  const time = (value: number) => duration(value, language);
  const sum = (lines: Line[]) => lines.map((line) => `${line.label} ${number(line.values.reduce<number>((all, value) => all + (value ?? 0), 0))}`).join(', ');
  const last = (lines: Line[]) => lines.map((line) => {
    const value = line.values.findLast((one) => one !== null);
    return value === undefined || value === null ? '' : `${line.label} ${time(value)}`;
  }).filter((text) => text !== '').join(', ');
  return (
    <div class="plots">
      <Plot title={t.plotArrivals} summary={sum(arrivals)} times={times} lines={arrivals} stacked format={number} theme={theme} />
      <Plot title={t.plotEnds} summary={sum(ends)} times={times} lines={ends} format={number} theme={theme} />
      <Plot title={`${t.plotAnswer} ${last(answer)}`} summary={last(answer)} times={times} lines={answer} format={time} theme={theme} />
      <Plot title={`${t.plotDelivery} ${last(delivery)}`} summary={last(delivery)} times={times} lines={delivery} format={time} theme={theme} />
    </div>
  );
}
