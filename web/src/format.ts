// Numbers, sizes, durations and moments for people. Pure, but for the zone of the machine.
import type { Language } from './words/index.ts';

const LOCALES: Record<Language, string> = { en: 'en-US', zh: 'zh-CN' };

export function count(value: number, language: Language): string {
  return value.toLocaleString(LOCALES[language]);
}

export function bytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = size;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

// 5 ms, 1.2 s, 3 min 20 s, 1 h 1 min, 2 d 3 h: two units at most.
export function duration(ms: number, language: Language): string {
  const [milli, s, min, h, d] = language === 'zh' ? ['毫秒', '秒', '分', '小时', '天'] : ['ms', 's', 'min', 'h', 'd'];
  const value = Math.max(0, ms);
  if (value < 1000) return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${milli}`;
  const seconds = value / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} ${s}`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} ${s}`;
  if (whole < 3600) return two(Math.floor(whole / 60), min, whole % 60, s);
  if (whole < 86400) return two(Math.floor(whole / 3600), h, Math.floor((whole % 3600) / 60), min);
  return two(Math.floor(whole / 86400), d, Math.floor((whole % 86400) / 3600), h);
}

function two(large: number, largeUnit: string | undefined, small: number, smallUnit: string | undefined): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

// The coarse age of a list's row: 5 s, 3 min, 2 h, 4 d.
export function age(ms: number, language: Language): string {
  const [s, min, h, d] = language === 'zh' ? ['秒', '分钟', '小时', '天'] : ['s', 'min', 'h', 'd'];
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} ${s}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} ${min}`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} ${h}`;
  return `${Math.floor(seconds / 86400)} ${d}`;
}

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

export function exact(moment: string): string {
  const at = new Date(moment);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${clock(moment)}`;
}

export function clock(moment: string): string {
  const at = new Date(moment);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`;
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const value = (100 * part) / whole;
  return value > 0 && value < 1 ? '< 1 %' : `${Math.round(value)} %`;
}
