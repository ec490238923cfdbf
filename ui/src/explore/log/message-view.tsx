/** The message unchanged; JSON is indented without changing digits. */
import { useMemo, useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { layOutJson } from '../../parts/text/json-text.ts';
import { LongText } from '../../parts/text/long-text.tsx';
import styles from './message-view.module.css';

export function MessageView({ message }: { message: string }) {
  const [isRaw, setIsRaw] = useState(false);
  const laidOut = useMemo(() => layOutJson(message), [message]);
  const text = isRaw ? message : (laidOut ?? message);
  return (
    <div className={styles.message}>
      <div className={styles.tools}>
        {laidOut !== undefined && (
          <Button tone="bare" isPressed={isRaw} onPress={() => setIsRaw(!isRaw)}>
            As sent
          </Button>
        )}
        <CopyButton text={message} what="the message" />
      </div>
      <pre className={styles.text} tabIndex={0} aria-label="Message">
        {text === '' ? (
          <span className={styles.empty}>empty message</span>
        ) : (
          <LongText key={String(isRaw)} text={text} maxLength={10_000} />
        )}
      </pre>
    </div>
  );
}
