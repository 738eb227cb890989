// Sending one event again: says what will happen before it does.
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { useSpeech } from '../words/index.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './small.tsx';

export interface ReplayTarget {
  id: string;
  label: string;
  destinations: string[];
  destination?: string;  // chosen already
  dead?: boolean;  // none of them ever succeeded
}

export function ReplayDialog({ target, onClose, onDone }: { target: ReplayTarget; onClose: () => void; onDone: (text: string) => void }) {
  const { t } = useSpeech();
  const [destination, setDestination] = useState(target.destination ?? '');
  const [newKey, setNewKey] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const names = destination === '' ? target.destinations : [destination];
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await api.replay(target.id, { ...(destination === '' ? {} : { destination }), ...(newKey ? { new_key: true } : {}) });
      const sent = answer.deliveries.filter((delivery) => delivery.replayed).length;
      onDone(t.replayDone(sent, answer.deliveries.length - sent));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t.replayTitle} onClose={onClose}>
      <p class="mono wrap">{target.label}</p>
      {target.destinations.length > 1 && (
        <label class="field">{t.destination}
          <select value={destination} onChange={(event) => setDestination(event.currentTarget.value)}>
            <option value="">{t.allDestinations}</option>
            {target.destinations.map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      )}
      <p>{newKey ? t.replayWithNewKey(names.join(', ')) : (target.dead ? t.replayDead : t.replayWithSameKey)(names.join(', '))}</p>
      <label class="check"><input type="checkbox" checked={newKey} onChange={(event) => setNewKey(event.currentTarget.checked)} /> {t.useNewKey}</label>
      <ErrorNote error={error} />
      <div class="buttons">
        <button type="button" class="primary" disabled={busy} onClick={send}>{t.replayNow}</button>
        <button type="button" onClick={onClose}>{t.cancel}</button>
      </div>
    </Dialog>
  );
}
