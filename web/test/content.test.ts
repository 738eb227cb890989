import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asCurl, prettyBody, prettyJson, whyBeyond } from '../src/content.ts';

test('JSON is laid out without changing what it says', () => {
  assert.equal(prettyJson('{"a":[1,{"b":"x,{}:\\""}],"c":{}, "d" : [ ] }'),
    '{\n  "a": [\n    1,\n    {\n      "b": "x,{}:\\""\n    }\n  ],\n  "c": {},\n  "d": []\n}');
});

test('long numbers, escapes and repeated names stay as they came', () => {
  const text = '{"id":12345678901234567890,"x":1.00,"e":1E400,"s":"\\u0041\\/","s":"twice"}';
  assert.equal(prettyJson(text)!.replaceAll(/\n */g, '').replaceAll('": ', '":'), text);
});

test('what is not JSON is left alone', () => {
  for (const text of ['', 'hello', '{', '{"a":1}x']) assert.equal(prettyJson(text), null);
});

test('a form is listed by its fields', () => {
  assert.equal(prettyBody('a=1+2&payload=%7B%22k%22%3A1%7D', 'application/x-www-form-urlencoded'), 'a = 1 2\npayload = {\n  "k": 1\n}');
});

test('a curl command quotes what a shell would read', () => {
  const command = asCurl({ headers: [['Host', 'h'], ['Content-Type', 'a/b'], ['X-A', `it's $HOME`], ['X-Empty', '']], body: `{"a":"it's"}` }, 'http://h/in');
  assert.equal(command, `curl -X POST 'http://h/in' \\\n  -H 'Content-Type: a/b' \\\n  -H 'X-A: it'\\''s $HOME' \\\n  -H 'X-Empty;' \\\n  --data-raw '{"a":"it'\\''s"}'`);
});

test('an answer is not said twice', () => {
  assert.equal(whyBeyond(503, 'answered 503'), '');
  assert.equal(whyBeyond(302, 'answered 302; redirects are not followed'), 'redirects are not followed');
  assert.equal(whyBeyond(200, 'answered 200, but its sender cannot get the body'), 'answered 200, but its sender cannot get the body');
  assert.equal(whyBeyond(null, 'no answer within 1s'), 'no answer within 1s');
  assert.equal(whyBeyond(200, null), '');
});

test('a body that no terminal takes as it is goes as base64', () => {
  const url = 'http://h/in';
  for (const body of ['a\0b', '\x1b[201~', 'a\r\n', '\x9bc', 'x'.repeat(100_001), '中'.repeat(33_334)]) {
    const [, base64] = /^printf %s '([A-Za-z0-9+/=]+)' \| base64 -d \| curl .*--data-binary @-$/s.exec(asCurl({ headers: [], body }, url))!;
    assert.equal(Buffer.from(base64!, 'base64').toString(), body);
  }
  for (const body of ['{\n\t"a": 1\n}', 'x'.repeat(100_000), '']) assert.ok(asCurl({ headers: [], body }, url).endsWith(`--data-raw '${body}'`));
});
