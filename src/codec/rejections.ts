/** Records of one request that were rejected: all are counted, the first are listed. */
import type { Batch, Rejection } from '../model/batch.ts';
import type { DecodeLimits } from '../model/protocol.ts';

/** Rejections listed in one answer. */
const maxListedRejections = 100;

/** Limits of a protocol. @param maxDepth 1 for records that are not nested */
export function decodeLimits(maxEvents: number, maxDepth = 1): DecodeLimits {
  return { maxEvents, maxDepth, maxRejections: maxListedRejections };
}

export class Rejections {
  readonly #maxListed: number;
  readonly #listed: Rejection[] = [];
  readonly #byReason = new Map<string, number>();
  #count = 0;

  constructor(maxListed: number) {
    this.#maxListed = maxListed;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param index position in the request
   * @param reason a fixed word; never contains data of the sender
   * @param records number of records rejected
   * @param example shown to the sender only
   */
  add(index: number, reason: string, records = 1, example = ''): void {
    this.#count += records;
    addCount(this.#byReason, reason, records);
    if (this.#listed.length >= this.#maxListed) return;
    this.#listed.push({ index, reason: example === '' ? reason : `${reason}: ${example}` });
  }

  toBatch(): Pick<Batch, 'rejected' | 'rejectedCount' | 'rejectedByReason'> {
    return {
      rejected: this.#listed,
      rejectedCount: this.#count,
      rejectedByReason: this.#byReason,
    };
  }
}

/** One text with the reasons first. @param records what the protocol calls them */
export function describeRejections(batch: Batch, records: string): string {
  const { rows, rejectedCount, rejectedByReason } = batch;
  const reasons = [...rejectedByReason].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const stored = rows === 0 ? 'nothing was stored' : `the other ${rows} are stored`;
  const all = rejectedCount + rows;
  return `cannot store ${rejectedCount} of ${all} ${records} (${reasons}), ${stored}`;
}

export function addCount(counts: Map<string, number>, word: string, count = 1): void {
  counts.set(word, (counts.get(word) ?? 0) + count);
}
