/** The semantics of log filters in plain JavaScript over an array. */
import type { StampedBatch } from '../../src/model/batch.ts';
import { encodeLogId, toTie } from '../../src/model/log-id.ts';
import {
  type EqualityField,
  type GroupField,
  isLabelField,
  labelKeyOf,
} from '../../src/model/log-fields.ts';
import type { LogFilter } from '../../src/model/plan.ts';
import { toSeverityNumber } from '../../src/model/severity.ts';
import { emptyLog, type LogFixture } from './log-row-fixture.ts';

export interface Stored {
  readonly logId: string;
  readonly timeNanos: bigint;
  readonly receivedAtNanos: bigint;
  readonly streamId: string;
  readonly accountId: string;
  readonly log: LogFixture;
}

export function toStored(batch: StampedBatch, logs: readonly Partial<LogFixture>[]): Stored[] {
  return logs.map((part, row) => {
    const log = { ...emptyLog, ...part };
    const timeNanos = log.timestamp < 0n ? batch.receivedAtNanos : log.timestamp;
    const tie = toTie(batch.id.writer, batch.id.sequence, row);
    const { accountId, streamId } = batch.owner;
    const { receivedAtNanos } = batch;
    return {
      logId: encodeLogId({ timeNanos, tie }),
      timeNanos,
      receivedAtNanos,
      streamId,
      accountId,
      log,
    };
  });
}

/** A filter of all logs of these streams. */
export function everyLog(accountId: string, streamIds: readonly string[]): LogFilter {
  return {
    accountId,
    streams: streamIds.map((streamId) => ({ streamId, receivedFromNanos: 0n })),
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
  };
}

export function matches(filter: LogFilter, stored: Stored): boolean {
  const { log } = stored;
  const stream = filter.streams.find(({ streamId }) => streamId === stored.streamId);
  const labels = labelsOf(log);
  return (
    stored.accountId === filter.accountId &&
    stream !== undefined &&
    stored.receivedAtNanos >= stream.receivedFromNanos &&
    (filter.fromNanos === undefined || stored.timeNanos >= filter.fromNanos) &&
    (filter.untilNanos === undefined || stored.timeNanos < filter.untilNanos) &&
    [...filter.equal].every(([field, values]) =>
      values.some((value) => isEqual(field, value, stored)),
    ) &&
    (filter.minSeverity === undefined || log.severityNumber >= filter.minSeverity) &&
    filter.labels.every(({ key, value }) => (labels.get(key) ?? '') === value) &&
    filter.search.every(({ text, exclude }) => lower(log.body).includes(lower(text)) !== exclude) &&
    !isExcluded(filter, stored, labels)
  );
}

/** The log's own attribute hides the resource's. */
export function labelsOf(log: LogFixture): ReadonlyMap<string, string> {
  return new Map([...Object.entries(log.resourceAttributes), ...Object.entries(log.logAttributes)]);
}

function isExcluded(
  { excluded }: LogFilter,
  stored: Stored,
  labels: ReadonlyMap<string, string>,
): boolean {
  if (excluded === undefined) return false;
  const { equal, labels: pairs } = excluded;
  return (
    [...equal].some(([field, values]) => values.some((value) => isEqual(field, value, stored))) ||
    pairs.some(({ key, value }) => (labels.get(key) ?? '') === value)
  );
}

export function facetValue(field: GroupField, stored: Stored): string {
  if (isLabelField(field)) return labelsOf(stored.log).get(labelKeyOf(field)) ?? '';
  if (field === 'streamId') return stored.streamId;
  if (field === 'receiverId') return 'rcv_test';
  if (field === 'scope') return stored.log.scopeName;
  const { severityNumber, severityText } = stored.log;
  if (field !== 'severity') return stored.log[field];
  return severityNumber === 0 ? severityText : levels[Math.ceil(severityNumber / 4) - 1]!;
}

const levels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export function isEqual(field: EqualityField, value: string, stored: Stored): boolean {
  const own = facetValue(field, stored);
  if (field === 'traceId' || field === 'spanId') return own === value.toLowerCase();
  if (field !== 'severity') return own === value;
  const number = toSeverityNumber(value.toUpperCase());
  if (number === 0) return stored.log.severityText === value.toUpperCase();
  return own === levels[Math.ceil(number / 4) - 1];
}

function lower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
