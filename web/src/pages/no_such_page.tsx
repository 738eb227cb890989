// An address that leads nowhere: mistyped, cut off, or of another version. Says so, and where one can go.
import { Empty } from '../parts/small.tsx';
import { PAGES, pageHref } from '../route.ts';
import { useSpeech } from '../words/index.ts';

export function NoSuchPage({ path }: { path: string[] }) {
  const { t } = useSpeech();
  return (
    <Empty title={t.noSuchPage}>
      <p class="mono wrap">#/{path.join('/')}</p>
      <p>{t.noSuchPageWhy}</p>
      <ul>{PAGES.map((page) => <li><a href={pageHref(page)}>{t.pages[page]}</a></li>)}</ul>
    </Empty>
  );
}
