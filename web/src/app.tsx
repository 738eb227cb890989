// The frame of all pages: head, navigation, search, theme and language; and the sign-in page where a token is needed.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, onSignedOut, type Session } from './api.ts';
import { useLiveState } from './live.ts';
import { DeadLetters } from './pages/dead.tsx';
import { Destinations } from './pages/destinations.tsx';
import { EventPage } from './pages/event.tsx';
import { Events } from './pages/events.tsx';
import { NoSuchPage } from './pages/no_such_page.tsx';
import { Overview } from './pages/overview.tsx';
import { RejectedPage } from './pages/rejected.tsx';
import { SignIn } from './pages/sign_in.tsx';
import { Sources } from './pages/sources.tsx';
import { Keys } from './parts/keys.tsx';
import { initialTheme, keepTheme, type Theme } from './theme.ts';
import { go, PAGES, pageHref, useRoute, type Route } from './route.ts';
import { initialLanguage, keepLanguage, SpeechContext, useSpeech, WORDS, type Language } from './words/index.ts';

export function App() {
  const [language, setLanguage] = useState<Language>(initialLanguage);
  const [theme, setTheme] = useState<Theme>(initialTheme);
  const [session, setSession] = useState<Session | null>(null);
  const [signedOut, setSignedOut] = useState(false);
  // Before anything is painted: a dark page that begins white is no dark page.
  useLayoutEffect(() => keepLanguage(language), [language]);
  useLayoutEffect(() => keepTheme(theme), [theme]);
  useEffect(() => onSignedOut(() => setSignedOut(true)), []);
  useEffect(() => {
    api.session().then((answer) => {
      setSession(answer);
      setSignedOut(answer.token_required && answer.signed_in === false);
    }, () => setSession({ token_required: false }));
  }, []);
  const signOut = async () => {
    await api.signOut().catch(() => undefined);
    setSignedOut(true);
  };
  if (session === null) return null;
  const frame = {
    theme,
    onTheme: () => setTheme(theme === 'dark' ? 'light' : 'dark'),
    onLanguage: () => setLanguage(language === 'en' ? 'zh' : 'en'),
    onSignOut: session.token_required && !signedOut ? signOut : null,
  };
  return (
    <SpeechContext.Provider value={{ t: WORDS[language], language }}>
      {signedOut
        ? <><Head {...frame} bare /><SignIn onDone={() => setSignedOut(false)} /></>
        : <Inside {...frame} />}
    </SpeechContext.Provider>
  );
}

interface Frame {
  theme: Theme;
  onTheme: () => void;
  onLanguage: () => void;
  onSignOut: (() => void) | null;
}

function Inside(frame: Frame) {
  const { t } = useSpeech();
  const route = useRoute();
  const page = route.path[0] ?? 'overview';
  const main = useRef<HTMLElement>(null);
  const place = route.path.join('/');
  const dead = useDeadLetters();
  const title = t.pages[page as keyof typeof t.pages] ?? t.noSuchPage;
  useEffect(() => {
    document.title = `${title} · Hookonce`;
  }, [title]);
  const first = useRef(true);
  useLayoutEffect(() => {
    // The reader of a new page starts at its top, with the keyboard too.
    if (!first.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [place]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>{t.skip}</a>
      <Head {...frame} />
      <nav aria-label={t.navigation}>
        {PAGES.map((name) => (
          <a href={pageHref(name)} aria-current={name === page ? 'page' : undefined}>
            {t.pages[name]}{name === 'dead' && dead > 0 && <span class="badge">{dead}</span>}
          </a>
        ))}
        <Live />
      </nav>
      <main id="main" ref={main} tabIndex={-1}><PageOf route={route} theme={frame.theme} /></main>
      <Keys />
    </>
  );
}

const DEAD_LETTERS_EVERY_MS = 15000;  // a number beside a word of the navigation need not be newer

function useDeadLetters(): number {
  const [dead, setDead] = useState(0);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) api.stats().then((stats) => setDead(stats.deliveries.dead), () => undefined);
    };
    look();
    const timer = setInterval(look, DEAD_LETTERS_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return dead;
}

function PageOf({ route, theme }: { route: Route; theme: Theme }) {
  const [page, id, more] = route.path;
  if (page === 'events' && id !== undefined && more === undefined) return <EventPage key={id} id={id} />;
  if (id !== undefined) return <NoSuchPage path={route.path} />;
  switch (page) {
    case undefined:
    case 'overview': return <Overview filter={route.filter} theme={theme} />;
    case 'events': return <Events filter={route.filter} />;
    case 'dead': return <DeadLetters filter={route.filter} />;
    case 'rejected': return <RejectedPage filter={route.filter} />;
    case 'sources': return <Sources />;
    case 'destinations': return <Destinations />;
    default: return <NoSuchPage path={route.path} />;
  }
}

function Live() {
  const { t } = useSpeech();
  const state = useLiveState();
  return <span class={`live live-${state}`} title={t.liveWhy[state]}><span aria-hidden="true">● </span>{t.live[state]}</span>;
}

function Head({ theme, onTheme, onLanguage, onSignOut, bare }: Frame & { bare?: boolean }) {
  const { t } = useSpeech();
  return (
    <header>
      <a class="name" href="#/">Hookonce</a>
      {bare ? <span class="search" /> : <Search />}
      <span class="tools">
        <button type="button" class="tool" onClick={onTheme} title={theme === 'dark' ? t.lightTheme : t.darkTheme}
                aria-label={theme === 'dark' ? t.lightTheme : t.darkTheme}>{theme === 'dark' ? '☀' : '☾'}</button>
        <button type="button" class="tool" onClick={onLanguage} lang={t.otherLanguageCode}>{t.otherLanguage}</button>
        {onSignOut && <button type="button" class="small" onClick={onSignOut}>{t.signOut}</button>}
      </span>
    </header>
  );
}

// One field for the one question: did it arrive, and what became of it? A text that finds one event opens it.
function Search() {
  const { t } = useSpeech();
  const [text, setText] = useState('');
  const find = async () => {
    const q = text.trim();
    if (q === '') return go(['events']);
    try {
      const found = await api.events({ q, limit: 2 });
      const only = found.items[0];
      // A call that ended early may have missed another one.
      if (only !== undefined && found.items.length === 1 && (found.next_cursor === null || q === only.id || q === only.key)) {
        setText('');
        return go(['events', only.id]);
      }
    } catch {
      // The list shows what went wrong.
    }
    return go(['events'], { q });
  };
  return (
    <form class="search" role="search" onSubmit={(event) => { event.preventDefault(); void find(); }}>
      <input type="search" id="search" value={text} placeholder={t.searchHint} aria-label={t.searchHint} autocomplete="off" spellcheck={false}
             onInput={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}
