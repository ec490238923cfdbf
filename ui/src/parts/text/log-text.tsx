/**
 * Text of somebody else, shown as text: what hides in it becomes a mark, and its direction stays
 * its own.
 */
import type { ReactNode } from 'react';
import styles from './log-text.module.css';
import { toVisibleParts } from './visible-text.ts';

export function LogText({ text }: { text: string }) {
  return (
    <bdi dir="auto" className={styles.text}>
      <VisibleText text={text} />
    </bdi>
  );
}

/** The same without an element of its own, for a place that isolates its direction by itself. */
export function VisibleText({ text }: { text: string }): ReactNode {
  return toVisibleParts(text).map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      // Parts of one text never change places.
      <span key={index} className={styles.mark} title={part.name}>
        {part.shown}
      </span>
    ),
  );
}
