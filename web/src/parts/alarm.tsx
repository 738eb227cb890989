// The alarm of a source: what is rejected, why most likely, and when it ends.
import type { Source } from '../api.ts';
import { count } from '../format.ts';
import { href } from '../route.ts';
import { useSpeech } from '../words/index.ts';
import { Ago } from './small.tsx';

// `linked`: with the way to the requests, where they are not on the page already.
export function AlarmNote({ source, linked }: { source: Source; linked?: boolean }) {
  const { t, language } = useSpeech();
  const { alarm } = source;
  if (!alarm) return null;
  const code = alarm.code as keyof typeof t.codes;
  const text = t.problemAlarm(source.name, count(alarm.rejected_last_minute, language), t.codes[code] ?? alarm.code);
  return (
    <div class="note bad">
      <p><strong>{linked ? <a href={href(['rejected'], { source: source.name })}>{text}</a> : text}</strong> · {t.alarmBegan} <Ago at={alarm.since} /></p>
      <p>{t.codesWhy[code]} {t.alarmEnds}</p>
    </div>
  );
}
