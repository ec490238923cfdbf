/** JSON of a message in colours; a key that is also a label with this value is a filter. */
import type { ReactNode } from 'react';
import { toVisibleText } from '../../parts/text/visible-text.ts';
import { type JsonPart, splitJson } from '../../parts/text/json-text.ts';
import type { Filter } from '../terms.ts';
import { fieldTitle, labelName } from './log-fields.ts';
import styles from './message-text.module.css';
import { MessageText } from './message-text.tsx';

export interface JsonMessageProps {
  readonly text: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent if the list has no filters. */
  readonly onFilter: ((filter: Filter) => void) | undefined;
}

export function JsonMessage({ text, labels, onFilter }: JsonMessageProps): ReactNode {
  const parts = splitJson(text);
  return parts.map((part, index) => {
    const content = <MessageText text={part.text} />;
    if (part.kind === 'space') return <span key={index}>{content}</span>;
    const filter = part.kind === 'key' ? filterOf(parts, index, labels) : undefined;
    if (filter === undefined || onFilter === undefined) {
      return (
        <span key={index} className={styles[part.kind]}>
          {content}
        </span>
      );
    }
    const title = `Only ${toVisibleText(fieldTitle(filter.field))} ${toVisibleText(filter.value)}`;
    return (
      <button
        key={index}
        type="button"
        className={styles.filter}
        title={title}
        aria-label={title}
        onClick={() => onFilter(filter)}
      >
        {content}
      </button>
    );
  });
}

function filterOf(
  parts: readonly JsonPart[],
  at: number,
  labels: JsonMessageProps['labels'],
): Filter | undefined {
  const key = textOf(parts[at]!);
  const field = labelName(key);
  const value = parts[at + 2];
  if (value === undefined || !Object.hasOwn(labels, key)) return undefined;
  return textOf(value) === labels[key]
    ? { field, value: labels[key], isExcluded: false }
    : undefined;
}

/** Strings without quotes and escapes, everything else as it is written. */
function textOf({ text }: JsonPart): string {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
