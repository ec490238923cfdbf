/** One row: few elements and no state, since scrolling renders a hundred at a time. */
import { memo, useContext } from 'react';
import { Link } from 'wouter';
import type { Log } from '../../api/models.ts';
import { VisibleText } from '../../parts/text/log-text.tsx';
import { formatTime, type Zone } from '../../parts/text/time-text.ts';
import { cutText } from '../../parts/text/visible-text.ts';
import { type FieldName, fieldValue, severityTone } from '../log/log-fields.ts';
import { MessageText } from '../log/message-text.tsx';
import { ServiceColors } from '../service-color.ts';
import { tracePath } from '../trace/trace.ts';
import styles from './log-row.module.css';

export interface LogRowProps {
  readonly log: Log;
  /** Index in the whole list. */
  readonly index: number;
  readonly id: string;
  readonly columns: readonly FieldName[];
  /** The first of its day in the list: shows the date. */
  readonly isDayStart: boolean;
  /** Names by stream id. */
  readonly streamNames: ReadonlyMap<string, string>;
  readonly zone: Zone;
  readonly isWrapped: boolean;
  readonly isActive: boolean;
  readonly isExpanded: boolean;
  /** The log whose context is shown. */
  readonly isMarked: boolean;
}

/** Maximum of characters shown. */
const maxLineLength = 600;
const maxWrappedLength = 3000;
const maxCellLength = 200;

export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { log, index, id, columns, streamNames, zone } = props;
  const { isWrapped, isActive, isExpanded, isMarked, isDayStart } = props;
  const serviceColor = useContext(ServiceColors);
  const time = formatTime(log.timestamp, zone);
  const states = [
    styles.row,
    isWrapped && styles.wrapped,
    isActive && styles.active,
    isExpanded && styles.expanded,
    isMarked && styles.marked,
  ];
  return (
    <div
      role="row"
      id={id}
      // Row 1 is the header.
      aria-rowindex={index + 2}
      data-index={index}
      data-tone={severityTone(log.severityNumber)}
      className={states.filter(Boolean).join(' ')}
    >
      <span role="gridcell" aria-expanded={isExpanded} className={styles.time} title={time}>
        {isDayStart && <span className={styles.date}>{time.slice(5, 11)}</span>}
        {time.slice(11)}
      </span>
      <span role="gridcell" className={styles.severity}>
        <VisibleText text={inOneLine(cutText(log.severity, maxCellLength))} />
      </span>
      {columns.map((name) => (
        <span key={name} role="gridcell" className={styles.cell}>
          {name === 'serviceName' && log.serviceName !== '' && (
            <span
              className={styles.dot}
              style={{ background: `var(${serviceColor(log.serviceName)})` }}
            />
          )}
          {name === 'traceId' && log.traceId !== '' ? (
            <Link href={tracePath(log.traceId) ?? ''}>{log.traceId}</Link>
          ) : (
            <VisibleText
              text={inOneLine(cutText(shownValue(log, name, streamNames), maxCellLength))}
            />
          )}
        </span>
      ))}
      <span role="gridcell" className={styles.message}>
        {isMarked && <span className="only-read">This log: </span>}
        <MessageText text={isWrapped ? wrappedMessage(log) : messageLine(log)} />
      </span>
    </div>
  );
});

function shownValue(log: Log, name: FieldName, streamNames: LogRowProps['streamNames']): string {
  const value = fieldValue(log, name);
  return name === 'streamId' ? (streamNames.get(value) ?? value) : value;
}

function messageLine({ message }: Log): string {
  return inOneLine(cutText(message, maxLineLength));
}

function inOneLine(text: string): string {
  return text.includes('\n') ? text.trimEnd().replaceAll(/\r?\n\s*/g, ' ⏎ ') : text;
}

function wrappedMessage({ message }: Log): string {
  const shown = cutText(message, maxWrappedLength);
  return shown.length < message.length ? `${shown}…` : shown;
}
