/** The semantics of log filters in plain JavaScript over an array. */
import type { StampedBatch } from '../../src/model/batch.ts';
import { encodeLogId, toTie } from '../../src/model/log-id.ts';
import type { FilterField } from '../../src/model/log-fields.ts';
import type { LogFilter } from '../../src/model/plan.ts';
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
  const labels = new Map([
    ...Object.entries(log.resourceAttributes),
    ...Object.entries(log.logAttributes),
  ]);
  return (
    stored.accountId === filter.accountId &&
    stream !== undefined &&
    stored.receivedAtNanos >= stream.receivedFromNanos &&
    (filter.fromNanos === undefined || stored.timeNanos >= filter.fromNanos) &&
    (filter.untilNanos === undefined || stored.timeNanos < filter.untilNanos) &&
    [...filter.equal].every(([field, values]) =>
      values.some((value) => fold(field, facetValue(field, stored)) === fold(field, value)),
    ) &&
    filter.labels.every(({ key, value }) => labels.get(key) === value) &&
    filter.search.every(({ text, exclude }) => lower(log.body).includes(lower(text)) !== exclude) &&
    !isExcluded(filter, stored, labels)
  );
}

function isExcluded(
  { excluded }: LogFilter,
  stored: Stored,
  labels: ReadonlyMap<string, string>,
): boolean {
  if (excluded === undefined) return false;
  const { equal, labels: pairs } = excluded;
  return (
    [...equal].some(([field, values]) =>
      values.some((value) => fold(field, facetValue(field, stored)) === fold(field, value)),
    ) || pairs.some(({ key, value }) => labels.get(key) === value)
  );
}

export function facetValue(field: FilterField, stored: Stored): string {
  if (field === 'streamId') return stored.streamId;
  return field === 'severity' ? stored.log.severityText : stored.log[field];
}

function fold(field: FilterField, value: string): string {
  return field === 'severity' ? value.toUpperCase() : value;
}

function lower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
