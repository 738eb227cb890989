// Asks for the admin token once; the gateway gives a cookie for it that no script can read.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError } from '../api.ts';
import { ErrorNote } from '../parts/small.tsx';
import { useSpeech } from '../words/index.ts';

export function SignIn({ onDone }: { onDone: () => void }) {
  const { t } = useSpeech();
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Hookonce';
    field.current?.focus();
  }, []);
  const send = async () => {
    setBusy(true);
    setWrong(false);
    setError(null);
    try {
      await api.signIn(token.trim());
      onDone();
    } catch (failure) {
      if (failure instanceof ApiError && failure.status === 401) setWrong(true);
      else setError(failure);
      setBusy(false);
      field.current?.select();
    }
  };
  return (
    <main id="main" class="sign-in">
      <form onSubmit={(event) => { event.preventDefault(); void send(); }}>
        <h1>{t.signInTitle}</h1>
        <p>{t.signInWhy}</p>
        <label class="field">{t.token}
          <input ref={field} type="password" autocomplete="current-password" value={token} required aria-invalid={wrong}
                 onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        {wrong && <p class="note bad" role="alert">{t.wrongToken}</p>}
        <ErrorNote error={error} />
        <div class="buttons"><button type="submit" class="primary" disabled={busy || token.trim() === ''}>{t.signIn}</button></div>
      </form>
    </main>
  );
}
