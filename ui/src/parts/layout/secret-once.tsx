/** A secret, shown once, with a copy button. */
import { CopyButton } from '../controls/copy-button.tsx';
import { Notice } from '../feedback/notice.tsx';
import styles from './secret-once.module.css';

export interface SecretOnceProps {
  readonly secret: string;
  /** Display name of the secret, such as `the token`. */
  readonly what: string;
}

export function SecretOnce({ secret, what }: SecretOnceProps) {
  return (
    <Notice tone="success">
      <p>Copy {what} now: it is shown only once, and Weir stores only its digest.</p>
      <div className={styles.row}>
        <code className={styles.secret} aria-label={what}>
          {secret}
        </code>
        <CopyButton text={secret} what={what} />
      </div>
    </Notice>
  );
}
