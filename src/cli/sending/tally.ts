/** Counts of lines, and the first reasons for rejections. */

/** Where an event comes from. */
export interface Place {
  readonly line: number;
  /** Names the place where a line of one source does not. */
  readonly where?: string;
}

export interface Rejection extends Place {
  readonly reason: string;
}

export function nameOf({ line, where = `line ${line}` }: Place): string {
  return where;
}

/** Rejections that are reported one by one; further ones are summed up by reason. */
const maxReported = 20;

export class Tally {
  blank = 0;
  /** Lines that are not blank: accepted, rejected, or without a response. */
  read = 0;
  accepted = 0;
  rejected = 0;
  retries = 0;
  /** Lines with invalid UTF-8. */
  repaired = 0;
  /** Of accepted bodies. */
  bytes = 0;
  /** Why a request is being retried. */
  trouble: string | undefined;
  readonly #sums = new Map<string, number>();
  #reported = 0;
  #news: Rejection[] = [];

  reject({ line, where }: Place, reason: string): void {
    if (this.#reported >= maxReported) {
      this.#sum(reason, 1);
      return;
    }
    this.rejected += 1;
    this.#reported += 1;
    this.#news.push({ line, ...(where !== undefined && { where }), reason });
  }

  /** For rejections that the service counts without naming them. */
  rejectUnnamed(count: number): void {
    if (count > 0) this.#sum('rejected by the service', count);
  }

  /** @returns rejections since the last call. */
  takeNews(): Rejection[] {
    return this.#news.splice(0);
  }

  /** @returns how many were not reported one by one, the most frequent reason first. */
  sums(): [reason: string, count: number][] {
    return [...this.#sums].sort((a, b) => b[1] - a[1]);
  }

  /** Lines that were read and got no response. */
  get unsent(): number {
    return this.read - this.accepted - this.rejected;
  }

  #sum(reason: string, count: number): void {
    this.rejected += count;
    this.#sums.set(reason, (this.#sums.get(reason) ?? 0) + count);
  }
}
