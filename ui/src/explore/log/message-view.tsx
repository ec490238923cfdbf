/**
 * The message unchanged; JSON is indented without changing digits, and of many lines the first are
 * shown.
 */
import { useMemo, useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { layOutJson } from '../../parts/text/json-text.ts';
import { LongText } from '../../parts/text/long-text.tsx';
import type { Log } from '../../api/models.ts';
import { JsonMessage } from './json-message.tsx';
import type { LogActions } from './log-actions.ts';
import { MessageText } from './message-text.tsx';
import styles from './message-view.module.css';

export interface MessageViewProps {
  readonly log: Pick<Log, 'message' | 'labels'>;
  readonly actions: Pick<LogActions, 'filter' | 'addCondition' | 'addColumn'>;
}

const foldedLines = 20;

export function MessageView({ log, actions }: MessageViewProps) {
  const { message } = log;
  const [isRaw, setIsRaw] = useState(false);
  const [isFolded, setIsFolded] = useState(true);
  const laidOut = useMemo(() => layOutJson(message), [message]);
  const isJson = laidOut !== undefined && !isRaw;
  const lines = useMemo(() => message.trimEnd().split('\n'), [message]);
  // One or two lines more are shown rather than folded.
  const canFold = !isJson && lines.length > foldedLines + 2;
  const text = canFold && isFolded ? lines.slice(0, foldedLines).join('\n') : message;
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
        {message === '' && <span className={styles.empty}>empty message</span>}
        {isJson ? (
          <JsonMessage key="json" log={log} laidOut={laidOut} actions={actions} />
        ) : (
          <LongText
            key="text"
            text={text}
            maxLength={10_000}
            render={(piece) => <MessageText text={piece} />}
          />
        )}
      </pre>
      {canFold && (
        <Button tone="bare" onPress={() => setIsFolded(!isFolded)}>
          {isFolded
            ? `Show ${lines.length - foldedLines} more lines`
            : `Show the first ${foldedLines} lines`}
        </Button>
      )}
    </div>
  );
}
