// What stands beside each other in one plot can be told apart, in both themes, and stands out from the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const sheet = readFileSync(new URL('../src/style.css', import.meta.url), 'utf8');
const colors = new Map([...sheet.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [name!, { light: light!, dark: dark! }]));
const causes = [...colors.keys()].filter((name) => name.startsWith('cause-'));
type Rgb = [number, number, number];

function linear(hex: string): Rgb {
  const of = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [of(1), of(3), of(5)];
}

// Distance in OKLab, where equal distances look about equal: black to white is 1.
function distance(one: string, other: string): number {
  const lab = ([r, g, b]: Rgb) => {
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s] as const;
  };
  const [a, b] = [lab(linear(one)), lab(linear(other))];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function contrast(one: string, other: string): number {
  const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  const [a, b] = [luminance(linear(one)), luminance(linear(other))];
  return Math.max(a, b) / Math.min(a, b);
}

test('each cause has a colour of its own', () => {
  assert.equal(causes.length, 7);
  const together = ['plot-good', ...causes];
  for (const theme of ['light', 'dark'] as const) {
    for (const one of together) {
      for (const other of together) {
        if (one < other) assert.ok(distance(colors.get(one)![theme], colors.get(other)![theme]) > 0.09, `${one} ${other} ${theme}`);
      }
    }
  }
});

test('what is plotted has the contrast that WCAG asks of graphics', () => {
  for (const name of [...causes, 'plot-good', 'plot-dead', 'plot-rejected']) {
    for (const theme of ['light', 'dark'] as const) assert.ok(contrast(colors.get(name)![theme], colors.get('paper')![theme]) >= 3, `${name} ${theme}`);
  }
});
