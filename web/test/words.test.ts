// Both languages say everything, and neither leaves a word of the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../src/words/en.ts';
import { zh } from '../src/words/zh.ts';

// ['pages.events', 'ago()', ...]
function keys(words: object, before = ''): string[] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'object' ? keys(value, `${before}${key}.`) : [`${before}${key}${typeof value === 'function' ? `(${value.length})` : ''}`]);
}

test('both dictionaries have the same keys and take the same values', () => {
  assert.deepEqual(keys(zh).sort(), keys(en).sort());
  assert.ok(keys(en).length > 100);
});

test('every Chinese text is Chinese', () => {
  const latin = new Set(['otherLanguage', 'otherLanguageCode', 'curlEnd']);
  for (const [key, value] of Object.entries(zh)) {
    if (typeof value === 'string' && !latin.has(key)) assert.match(value, /[\u4e00-\u9fff]/, key);
  }
});

test('no text is empty', () => {
  for (const words of [en, zh]) {
    const look = (value: unknown): void => {
      if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
      else if (typeof value === 'string') assert.notEqual(value.trim(), '');
    };
    look(words);
  }
});
