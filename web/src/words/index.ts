// Which language the page speaks. The Chinese dictionary has the type of the English one, so a missing key does not compile.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { en } from './en.ts';
import { zh } from './zh.ts';

export type Language = 'en' | 'zh';
export type Words = typeof en;
export const WORDS: Record<Language, Words> = { en, zh };

export interface Speech {
  t: Words;
  language: Language;
}
export const SpeechContext = createContext<Speech>({ t: en, language: 'en' });
export const useSpeech = () => useContext(SpeechContext);

const KEPT = 'hookonce.language';

export function initialLanguage(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'en' || kept === 'zh') return kept;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function keepLanguage(language: Language) {
  localStorage.setItem(KEPT, language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}
