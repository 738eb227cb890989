import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, bytes, duration, percent } from '../src/format.ts';

test('durations have at most two units', () => {
  const cases: [number, string][] = [[0, '0 ms'], [1.234, '1.2 ms'], [12, '12 ms'], [999.4, '999 ms'], [1200, '1.2 s'], [9940, '9.9 s'],
    [59_400, '59 s'], [200_000, '3 min 20 s'], [3_660_000, '1 h 1 min'], [7_200_000, '2 h'], [183_600_000, '2 d 3 h'], [-5, '0 ms']];
  for (const [ms, text] of cases) assert.equal(duration(ms, 'en'), text);
  assert.equal(duration(3_660_000, 'zh'), '1 小时 1 分');
});

test('ages are coarse', () => {
  const cases: [number, string][] = [[-1, '0 s'], [59_999, '59 s'], [60_000, '1 min'], [3_599_999, '59 min'], [86_400_000, '1 d']];
  for (const [ms, text] of cases) assert.equal(age(ms, 'en'), text);
});

test('sizes and shares', () => {
  assert.equal(bytes(281), '281 B');
  assert.equal(bytes(1536), '1.5 KiB');
  assert.equal(bytes(4 * 1024 * 1024), '4.0 MiB');
  assert.equal(percent(0, 0), '0 %');
  assert.equal(percent(1, 1000), '< 1 %');
  assert.equal(percent(61, 100), '61 %');
});
