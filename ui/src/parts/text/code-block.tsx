/** Text to paste elsewhere, with a copy button. */
import styles from './code-block.module.css';
import { CopyButton } from '../controls/copy-button.tsx';

export interface CodeBlockProps {
  /** Where it belongs: a file, a shell. */
  readonly caption: string;
  readonly text: string;
}

export function CodeBlock({ caption, text }: CodeBlockProps) {
  return (
    <figure className={styles.block}>
      <figcaption className={styles.caption}>
        <span>{caption}</span>
        <CopyButton text={text} what={caption} />
      </figcaption>
      <pre className={styles.text} tabIndex={0} aria-label={caption}>
        {text}
      </pre>
    </figure>
  );
}
