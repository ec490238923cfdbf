/** Text of a message, with the hits of the search marked. The parent isolates its direction. */
import { use } from 'react';
import { VisibleText } from '../../parts/text/log-text.tsx';
import styles from './message-text.module.css';
import { SearchHits, splitAtHits } from './search-hits.ts';

export function MessageText({ text }: { text: string }) {
  const hits = use(SearchHits);
  if (hits === undefined) return <VisibleText text={text} />;
  return splitAtHits(text, hits).map((part, index) =>
    part.isHit ? (
      // Index keys: parts never reorder.
      <mark key={index} className={styles.hit}>
        <VisibleText text={part.text} />
      </mark>
    ) : (
      <VisibleText key={index} text={part.text} />
    ),
  );
}
