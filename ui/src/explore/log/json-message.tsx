/** JSON of a message in colours; a key opens a menu that filters by its value or adds a column. */
import { Menu } from '@base-ui/react/menu';
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';
import menuStyles from '../../parts/controls/menu.module.css';
import { jsonEntries, type JsonEntry, jsonScalar, splitJson } from '../../parts/text/json-text.ts';
import { LongText } from '../../parts/text/long-text.tsx';
import { cutText, toVisibleText } from '../../parts/text/visible-text.ts';
import { jsonColumn, jsonCondition } from './extracted-fields.ts';
import type { LogActions } from './log-actions.ts';
import { labelName } from './log-fields.ts';
import styles from './message-text.module.css';
import { MessageText } from './message-text.tsx';

export interface JsonMessageProps {
  readonly log: Pick<Log, 'message' | 'labels'>;
  /** The message, indented. */
  readonly laidOut: string;
  readonly actions: KeyActions;
}

type KeyActions = Pick<LogActions, 'filter' | 'addCondition' | 'addColumn'>;

/** Keys beyond have no menu. */
const maxKeysLength = 100_000;

export function JsonMessage({ log, laidOut, actions }: JsonMessageProps) {
  const [pressed, setPressed] = useState<JsonEntry>();
  const anchor = useRef<HTMLElement>(null);
  const entries = useMemo(() => {
    const all = actions.filter === undefined ? [] : jsonEntries(laidOut.slice(0, maxKeysLength));
    return new Map([...all].map((entry) => [entry.keyAt, entry]));
  }, [laidOut, actions.filter]);
  const press = useCallback((entry: JsonEntry, element: HTMLElement) => {
    anchor.current = element;
    setPressed(entry);
  }, []);
  const value = pressed && jsonScalar(laidOut.slice(pressed.valueAt, pressed.valueEnd));
  return (
    <>
      <LongText
        text={laidOut}
        maxLength={10_000}
        render={(text, offset) => (
          <Piece text={text} offset={offset} entries={entries} onKey={press} />
        )}
      />
      <Menu.Root
        open={pressed !== undefined}
        onOpenChange={(isOpen) => !isOpen && setPressed(undefined)}
      >
        <Menu.Portal>
          <Menu.Positioner
            anchor={anchor}
            className={menuStyles.positioner}
            align="start"
            sideOffset={4}
          >
            <Menu.Popup
              className={menuStyles.popup}
              finalFocus={anchor}
              aria-label={pressed && toVisibleText(pressed.path)}
            >
              {itemsOf(log, pressed?.path ?? '', value ?? '', actions).map(({ label, onPick }) => (
                <Menu.Item key={label} className={menuStyles.item} onClick={onPick}>
                  {label}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </>
  );
}

interface PieceProps {
  readonly text: string;
  readonly offset: number;
  /** By the offset of their key. */
  readonly entries: ReadonlyMap<number, JsonEntry>;
  readonly onKey: (entry: JsonEntry, element: HTMLElement) => void;
}

function Piece({ text, offset, entries, onKey }: PieceProps): ReactNode {
  let at = offset;
  return splitJson(text).map((part, index) => {
    const entry = part.kind === 'key' ? entries.get(at) : undefined;
    at += part.text.length;
    const content = <MessageText text={part.text} />;
    // Index keys: parts never reorder.
    if (part.kind === 'space') return <span key={index}>{content}</span>;
    if (entry === undefined) {
      return (
        <span key={index} className={styles[part.kind]}>
          {content}
        </span>
      );
    }
    return (
      <button
        key={index}
        type="button"
        className={styles.filter}
        aria-haspopup="menu"
        title="Filter, or show as a column"
        onClick={({ currentTarget }) => onKey(entry, currentTarget)}
      >
        {content}
      </button>
    );
  });
}

/** A key that is also a label is named as the label, which the service finds faster. */
function itemsOf(
  { message, labels }: JsonMessageProps['log'],
  path: string,
  value: string,
  { filter, addCondition, addColumn }: KeyActions,
) {
  const key = [path, path.slice(path.lastIndexOf('.') + 1)].find(
    (name) => Object.hasOwn(labels, name) && labels[name] === value,
  );
  const field = key === undefined ? undefined : labelName(key);
  const condition = field === undefined ? jsonCondition(message, path) : undefined;
  const pair = `${toVisibleText(key ?? path)} ${toVisibleText(cutText(value, 60))}`.trim();
  const pick = (isExcluded: boolean) => () => {
    if (field !== undefined) filter?.({ field, value, isExcluded });
    else if (condition !== undefined) addCondition?.(condition, isExcluded);
  };
  const isFilter = field !== undefined || condition !== undefined;
  return [
    ...(isFilter ? [{ label: `Only ${pair}`, onPick: pick(false) }] : []),
    ...(isFilter ? [{ label: `Without ${pair}`, onPick: pick(true) }] : []),
    {
      label: `Show ${toVisibleText(key ?? path)} as a column`,
      onPick: () => addColumn?.(field ?? jsonColumn(path)),
    },
  ];
}
