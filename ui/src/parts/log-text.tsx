/**
 * Text of somebody else, shown as text: what hides in it becomes a mark, and its direction stays its
 * own.
 */
import styles from './log-text.module.css';
import { toVisibleParts } from './visible-text.ts';

export function LogText({ text }: { text: string }) {
  return (
    <bdi dir="auto" className={styles.text}>
      {toVisibleParts(text).map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          // Parts of one text never change places.
          <span key={index} className={styles.mark} title={part.name}>
            {part.shown}
          </span>
        ),
      )}
    </bdi>
  );
}
