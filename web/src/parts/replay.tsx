// Sending one event again: says what will happen before it does.
import { useState } from 'preact/hooks';
import { api, type State } from '../api.ts';
import { useSpeech } from '../words/index.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './small.tsx';

export interface ReplayTarget {
  id: string;
  label: string;
  deliveries: Replayed[];
  destination?: string;  // chosen already
}

// Of a delivery what decides what sending it again does.
export interface Replayed {
  destination: string;
  state: State;
  delivered_at: string | null;  // the last recorded success, if there was one
  held: 'line' | 'paused' | null;
}

export const KINDS = ['confirmed', 'dead', 'waiting', 'held', 'inFlight'] as const;

// A success that was recorded counts more than what came of the delivery since.
export function kindOf({ state, delivered_at, held }: Replayed): (typeof KINDS)[number] {
  if (state === 'in_flight') return 'inFlight';
  if (held !== null) return 'held';
  if (delivered_at !== null || state === 'delivered') return 'confirmed';
  return state === 'dead' ? 'dead' : 'waiting';
}

export function ReplayDialog({ target, onClose, onDone }: { target: ReplayTarget; onClose: () => void; onDone: (text: string) => void }) {
  const { t } = useSpeech();
  const [destination, setDestination] = useState(target.destination ?? '');
  const [newKey, setNewKey] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const chosen = target.deliveries.filter((delivery) => destination === '' || delivery.destination === destination);
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
      {target.deliveries.length > 1 && (
        <label class="field">{t.destination}
          <select value={destination} onChange={(event) => setDestination(event.currentTarget.value)}>
            <option value="">{t.allDestinations}</option>
            {target.deliveries.map(({ destination: name }) => <option value={name}>{name}</option>)}
          </select>
        </label>
      )}
      {KINDS.map((kind) => {
        const names = chosen.filter((delivery) => kindOf(delivery) === kind).map((delivery) => delivery.destination).join(', ');
        return names !== '' && <p>{newKey && kind !== 'inFlight' && kind !== 'held' ? t.replayWithNewKey(names) : t.replayKinds[kind](names)}</p>;
      })}
      <label class="check"><input type="checkbox" checked={newKey} onChange={(event) => setNewKey(event.currentTarget.checked)} /> {t.useNewKey}</label>
      <ErrorNote error={error} />
      <div class="buttons">
        <button type="button" class="primary" disabled={busy} onClick={send}>{t.replayNow}</button>
        <button type="button" onClick={onClose}>{t.cancel}</button>
      </div>
    </Dialog>
  );
}
