// Whether all is well, and what needs a person: concluded from what the calls say. Pure.
import type { Destination, Source, Stats } from './api.ts';

export type Problem =
  | { kind: 'store'; why: string | null }
  | { kind: 'draining' }
  | { kind: 'breaker'; destination: string; until: string | null }
  | { kind: 'late'; at: string }
  | { kind: 'dead'; count: number }
  | { kind: 'orphaned'; count: number }
  | { kind: 'paused'; destination: string; waiting: number }
  | { kind: 'alarm'; source: string; perMinute: number; code: string }
  | { kind: 'weakness'; text: string };

export const LATE_AFTER_MS = 60_000;  // a first retry or two take less than this

// The most urgent first. Not all are the gateway's fault: a paused destination is a person's wish, and shown lest it be forgotten.
export function problemsOf(stats: Stats, sources: Source[], destinations: Destination[], now: number): Problem[] {
  const problems: Problem[] = [];
  if (!stats.store.ready) problems.push({ kind: 'store', why: stats.store.why });
  if (stats.draining) problems.push({ kind: 'draining' });
  for (const destination of destinations) {
    if (destination.breaker !== undefined && destination.breaker.state !== 'closed') {
      problems.push({ kind: 'breaker', destination: destination.name, until: destination.breaker.open_until });
    }
  }
  const oldest = stats.deliveries.oldest_pending_at;
  if (oldest !== null && now - Date.parse(oldest) > LATE_AFTER_MS) problems.push({ kind: 'late', at: oldest });
  for (const source of sources) {
    if (source.alarm) problems.push({ kind: 'alarm', source: source.name, perMinute: source.alarm.rejected_last_minute, code: source.alarm.code });
  }
  if (stats.deliveries.dead > 0) problems.push({ kind: 'dead', count: stats.deliveries.dead });
  if (stats.deliveries.orphaned > 0) problems.push({ kind: 'orphaned', count: stats.deliveries.orphaned });
  for (const destination of destinations) {
    if (destination.paused) problems.push({ kind: 'paused', destination: destination.name, waiting: destination.waiting });
  }
  for (const text of stats.store.weaknesses) problems.push({ kind: 'weakness', text });
  return problems;
}

export type Wellness = 'well' | 'watch' | 'bad';

const BAD = new Set<Problem['kind']>(['store', 'breaker', 'late', 'alarm', 'draining']);

export function wellness(problems: Problem[]): Wellness {
  if (problems.some((problem) => BAD.has(problem.kind))) return 'bad';
  return problems.length > 0 ? 'watch' : 'well';
}

export function total(counts: Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const one of counts) {
    for (const [name, value] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

// Causes of duplicates, the most frequent first. `first` is no duplicate.
export function causeShares(causes: Record<string, number>): { cause: string; count: number }[] {
  return Object.entries(causes)
    .filter(([cause, count]) => cause !== 'first' && count > 0)
    .map(([cause, count]) => ({ cause, count }))
    .sort((a, b) => b.count - a.count || a.cause.localeCompare(b.cause));
}
