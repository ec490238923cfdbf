/** YAML or JSON in an editor, which is loaded later, with its faults below. */
import { lazy, Suspense } from 'react';
import styles from './checked-text.module.css';
import type { TextFault } from './text-fault.ts';

const YamlEditor = lazy(() =>
  import('./yaml-editor.tsx').then((module) => ({ default: module.YamlEditor })),
);

export interface CheckedTextProps {
  /** Accessible name. */
  readonly label: string;
  readonly text: string;
  readonly faults: readonly TextFault[];
  readonly onText: (text: string) => void;
}

export function CheckedText(props: CheckedTextProps) {
  const { text, faults } = props;
  return (
    <>
      <Suspense fallback={<pre className={styles.loading}>{text}</pre>}>
        <YamlEditor {...props} className={styles.editor} />
      </Suspense>
      {faults.length > 0 && (
        <div role="alert">
          <ul className={styles.faults}>
            {faults.map(({ position, message }) => (
              <li key={`${position ?? ''} ${message}`}>{message}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
