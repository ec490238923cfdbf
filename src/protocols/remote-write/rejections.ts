/** What one request sent that cannot be taken: all of it counted, the first of it listed. */
import type { Rejection } from '../../model/batch.ts';

export class Rejections {
  readonly first: Rejection[] = [];
  readonly byReason = new Map<string, number>();
  count = 0;
  readonly #maxListed: number;

  constructor(maxListed: number) {
    this.#maxListed = maxListed;
  }

  /**
   * @param index of the time series in the request
   * @param reason one of a few fixed words
   * @param records of the series that are lost
   * @param example of what is wrong, shown to the sender
   */
  add(index: number, reason: string, records: number, example = ''): void {
    this.count += records;
    this.byReason.set(reason, (this.byReason.get(reason) ?? 0) + records);
    if (this.first.length === this.#maxListed) return;
    this.first.push({ index, reason: example === '' ? reason : `${reason}: ${example}` });
  }
}
