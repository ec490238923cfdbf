/**
 * What has become of the lines so far: counts for the progress and the summary, and the first
 * reasons why some were rejected.
 */

export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

/** Lines that are told one by one. */
const maxTold = 20;

export class Tally {
  /** Lines that are no event and no message. */
  blank = 0;
  /** Lines to be sent: accepted, rejected and those without an answer. */
  read = 0;
  accepted = 0;
  rejected = 0;
  retries = 0;
  /** Lines that were no valid UTF-8 and were sent with U+FFFD in its place. */
  repaired = 0;
  /** Of the bodies that were accepted. */
  bytes = 0;
  /** Why a request is tried again; undefined while all goes well. */
  trouble: string | undefined;
  readonly #untold = new Map<string, number>();
  #told = 0;
  #news: Rejection[] = [];

  reject(line: number, reason: string): void {
    this.rejected += 1;
    if (this.#told < maxTold) {
      this.#told += 1;
      this.#news.push({ line, reason });
      return;
    }
    this.#untold.set(reason, (this.#untold.get(reason) ?? 0) + 1);
  }

  /** For lines of which only their number is known. */
  rejectUnnamed(count: number): void {
    if (count <= 0) return;
    this.rejected += count;
    const reason = 'rejected by the service';
    this.#untold.set(reason, (this.#untold.get(reason) ?? 0) + count);
  }

  /** @returns rejections to tell since the last call; after the first 20 they are only counted. */
  takeNews(): Rejection[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  /** @returns how many were not told, by reason, the most frequent first. */
  untold(): [reason: string, count: number][] {
    return [...this.#untold].sort((a, b) => b[1] - a[1]);
  }

  /** Lines that were read and have no answer. */
  get unsent(): number {
    return this.read - this.accepted - this.rejected;
  }
}
