/**
 * What senders of OTLP logs are told about records that were taken, but not quite as they were
 * sent. Fixed words: they are counted, and answered as the message of a full success.
 */
import { addCount } from '../../codec/rejections.ts';

export const logWarnings = {
  timeUnit: 'time not in nanoseconds, read in the unit its magnitude speaks for',
  timeRange: 'time outside 1970 to 2149, replaced by the time of receipt',
  timeForm: 'time that is no unsigned 64-bit integer, replaced by the time of receipt',
  severityNumber: 'severity number outside 0 to 24, clamped',
  badId: 'trace or span id of a wrong form, left out',
  idNotation: 'trace or span id in another notation, decoded',
  repeatedKey: 'attribute key repeated, its last value kept',
  tooManyAttributes: 'more than 1000 attributes, the rest left out',
  brokenText: 'text that is not valid UTF-8, repaired',
  wrongType: 'value of another type than its field, left out',
  stringTable: 'reference to a string table, left out',
} as const;

/** Counts by word. Reused from request to request. */
export class WarningCounts {
  #counts = new Map<string, number>();

  /** @param word fixed, none of the sender's. */
  add(word: string, times = 1): void {
    if (times > 0) addCount(this.#counts, word, times);
  }

  /** @returns what was counted since the last time. */
  take(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}
