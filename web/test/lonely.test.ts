import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lonely } from '../src/parts/lonely.ts';

test('a value without a neighbour is lonely, whatever its value', () => {
  assert.deepEqual(lonely([]), []);
  assert.deepEqual(lonely([0]), [0]);
  assert.deepEqual(lonely([1, 2]), []);
  assert.deepEqual(lonely([null, 3, null, 4, 5, null, 0]), [1, 6]);
  assert.deepEqual(lonely([7, null, null, 8]), [0, 3]);
});
