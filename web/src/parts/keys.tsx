// Keys for those who never touch the mouse: / search, j k between rows, enter opens (the row's own link), r sends again, ? lists them.
import { useEffect, useState } from 'preact/hooks';
import { useSpeech } from '../words/index.ts';
import { Dialog } from './dialog.tsx';

// A row is an element with `data-row`; its first link takes the focus, and its button with `data-replay` answers to r.
function rowLinks(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-row] a[data-open]')];
}

function move(step: number) {
  const links = rowLinks();
  if (links.length === 0) return;
  const now = links.findIndex((link) => link.closest('[data-row]')?.contains(document.activeElement));
  const next = now < 0 ? 0 : Math.min(links.length - 1, Math.max(0, now + step));
  links[next]!.focus();
  links[next]!.closest('[data-row]')?.scrollIntoView({ block: 'nearest' });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function Keys() {
  const { t } = useSpeech();
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (isTyping(event.target)) {
        if (event.key === 'Escape') (event.target as HTMLElement).blur();
        return;
      }
      switch (event.key) {
        case '/':
          document.getElementById('search')?.focus();
          break;
        case 'j':
          move(1);
          break;
        case 'k':
          move(-1);
          break;
        case 'r': {
          const row = document.activeElement?.closest('[data-row]') ?? document;
          row.querySelector<HTMLElement>('[data-replay]')?.click();
          break;
        }
        case '?':
          setHelp(true);
          break;
        default:
          return;
      }
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  if (!help) return null;
  return (
    <Dialog title={t.keysTitle} onClose={() => setHelp(false)}>
      <dl class="keys">
        {Object.entries(t.keys).map(([key, does]) => <><dt><kbd>{key}</kbd></dt><dd>{does}</dd></>)}
      </dl>
      <div class="buttons"><button type="button" onClick={() => setHelp(false)}>{t.close}</button></div>
    </Dialog>
  );
}
