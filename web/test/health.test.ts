import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Destination, Source, Stats } from '../src/api.ts';
import { causeShares, LATE_AFTER_MS, problemsOf, total, wellness } from '../src/health.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const stats = (change: Partial<Stats['deliveries']> = {}, store: Partial<Stats['store']> = {}): Stats => ({
  now: '', draining: false, events: 1, sources: {}, destinations: {},
  deliveries: { pending: 0, in_flight: 0, dead: 0, orphaned: 0, oldest_pending_at: null, ...change },
  store: { ready: true, why: null, log_bytes: 0, weaknesses: [], ...store },
});
const destination = (change: Partial<Destination>): Destination => ({ name: 'backend', orphaned: false, waiting: 0, ...change });

test('on a good day nothing needs a person', () => {
  const problems = problemsOf(stats({ pending: 3, oldest_pending_at: '2026-01-02T03:04:04Z' }), [], [destination({})], NOW);
  assert.deepEqual(problems, []);
  assert.equal(wellness(problems), 'well');
});

test('a delivery is late after a minute, not before', () => {
  const waitsSince = (ms: number) => problemsOf(stats({ pending: 1, oldest_pending_at: new Date(NOW - ms).toISOString() }), [], [], NOW);
  assert.deepEqual(waitsSince(LATE_AFTER_MS), []);
  assert.equal(waitsSince(LATE_AFTER_MS + 1)[0]?.kind, 'late');
});

test('the most urgent stands first', () => {
  const source = { name: 'stripe', alarm: { since: '', rejected_last_minute: 20, code: 'signature_mismatch' } } as Source;
  const problems = problemsOf(stats({ dead: 3 }, { ready: false, why: 'full' }), [source],
    [destination({ paused: true, breaker: { enabled: true, state: 'open', open_until: null, opened: 1 } })], NOW);
  assert.deepEqual(problems.map((problem) => problem.kind), ['store', 'breaker', 'alarm', 'dead', 'paused']);
  assert.equal(wellness(problems), 'bad');
  assert.equal(wellness(problemsOf(stats({ dead: 3 }), [], [], NOW)), 'watch');
});

test('causes are shared among duplicates only, and summed over sources', () => {
  assert.deepEqual(causeShares(total([{ first: 9, provider_retry: 1 }, { provider_retry: 1, concurrent_twin: 5, manual_resend: 0 }])),
    [{ cause: 'concurrent_twin', count: 5 }, { cause: 'provider_retry', count: 2 }]);
});
