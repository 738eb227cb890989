// Light or dark: what the system says, until the reader says otherwise.
export type Theme = 'light' | 'dark';

const KEPT = 'hookonce.theme';

export function initialTheme(): Theme {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'light' || kept === 'dark') return kept;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function keepTheme(theme: Theme) {
  document.documentElement.dataset.theme = theme;
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  if (theme === system) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, theme);
}
