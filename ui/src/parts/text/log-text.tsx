/** Untrusted text: invisible characters become symbols, and bidirectional text is isolated. */
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

/** Without an element, for a parent that isolates direction. */
export function VisibleText({ text }: { text: string }): ReactNode {
  return toVisibleParts(text).map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      // Index keys: parts never reorder.
      <span key={index} className={styles.mark} title={part.name}>
        {part.shown}
      </span>
    ),
  );
}

export interface NamedProps {
  readonly before?: string;
  readonly name: string;
  readonly after?: string;
}

/** A title with an untrusted name, such as `Edit checkout`. */
export function Named({ before, name, after }: NamedProps) {
  return (
    <>
      {before} <LogText text={name} />
      {after}
    </>
  );
}
