// Bodies and requests as text: laid out for reading without changing what they say. Pure.
import type { Content } from './api.ts';

// JSON laid out line by line. The text is not parsed: a number of twenty digits stays as it came, and so does a repeated name.
// Null where it is not JSON.
export function prettyJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let out = '';
  let depth = 0;
  const line = () => '\n' + '  '.repeat(depth);
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === '"') {
      const end = stringEnd(text, at);
      out += text.slice(at, end);
      at = end - 1;
    } else if (char === '{' || char === '[') {
      const close = closesAt(text, at);
      if (close > 0) {
        out += char + text[close];
        at = close;
      } else {
        depth += 1;
        out += char + line();
      }
    } else if (char === '}' || char === ']') {
      depth -= 1;
      out += line() + char;
    } else if (char === ',') {
      out += char + line();
    } else if (char === ':') {
      out += ': ';
    } else if (!/\s/.test(char)) {
      out += char;
    }
  }
  return out;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

// Where the empty object or list that opens at `start` closes; 0 where it is not empty.
function closesAt(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /\s/.test(text[at]!)) at += 1;
  return text[at] === '}' || text[at] === ']' ? at : 0;
}

export function prettyBody(body: string, contentType: string): string | null {
  if (/x-www-form-urlencoded/i.test(contentType) && body !== '') {
    return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${prettyJson(value) ?? value}`).join('\n');
  }
  return prettyJson(body);
}

// What an attempt's error says that its status does not.
export function whyBeyond(status: number | null, error: string | null): string {
  const said = `answered ${status}`;
  if (error === null || error === said) return '';
  return error.startsWith(said + '; ') ? error.slice(said.length + 2) : error;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

// What the connection makes by itself, and what curl adds.
const NOT_COPIED = /^(host|content-length|connection|transfer-encoding|accept-encoding|expect)$/i;

// What a terminal acts on where it is pasted, an escape that ends the paste too, and the NUL that no argument holds. Tab and line feed are as they are.
const NOT_PASTED = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const ARGUMENT_MAX = 100_000;  // bytes of a body; Linux takes no argument beyond 128 KiB

// As it is pasted: null where it can go as it is.
function inBase64(content: Content): string | null {
  if (content.body_base64 !== undefined) return content.body_base64;
  const body = content.body ?? '';
  const bytes = new TextEncoder().encode(body);
  if (bytes.length <= ARGUMENT_MAX && !NOT_PASTED.test(body)) return null;
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

// The request as a shell command that sends the same bytes to `url`.
export function asCurl(content: Content, url: string): string {
  const parts = [`curl -X POST ${quoted(url)}`];
  for (const [name, value] of content.headers) {
    if (!NOT_COPIED.test(name)) parts.push(`-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`);
  }
  if (!content.headers.some(([name]) => name.toLowerCase() === 'content-type')) parts.push(`-H 'Content-Type:'`);
  const base64 = inBase64(content);
  if (base64 !== null) {
    return `printf %s ${quoted(base64)} | base64 -d | ` + [...parts, '--data-binary @-'].join(' \\\n  ');
  }
  return [...parts, `--data-raw ${quoted(content.body ?? '')}`].join(' \\\n  ');
}

// Works on plain HTTP too, where browsers give pages no clipboard.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    // Inside an open dialog nothing outside of it can be selected.
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
