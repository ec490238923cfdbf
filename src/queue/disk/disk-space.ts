/**
 * Whether there is room on the disk for more, judged by the last measurement and what was written
 * since.
 */

export interface DiskSpaceOptions {
  /** Appends are refused below this many free bytes. */
  readonly minFreeBytes: number;
}

const remeasureAfterMs = 1000;
const remeasureAfterBytes = 64 * 1024 * 1024;

export class DiskSpace {
  readonly #minFreeBytes: number;
  #freeBytes: number;
  #measuredAtMs: number;
  #writtenSince = 0;

  constructor(options: DiskSpaceOptions, freeBytes: number, nowMs: number) {
    this.#minFreeBytes = options.minFreeBytes;
    this.#freeBytes = freeBytes;
    this.#measuredAtMs = nowMs;
  }

  /** Counts bytes on their way to disk. */
  add(bytes: number): void {
    this.#writtenSince += bytes;
  }

  measured(freeBytes: number, nowMs: number): void {
    this.#freeBytes = freeBytes;
    this.#measuredAtMs = nowMs;
    this.#writtenSince = 0;
  }

  /** Bytes that are missing to the free space that must remain; 0 when there is room. */
  get missingBytes(): number {
    return Math.max(0, this.#minFreeBytes - (this.#freeBytes - this.#writtenSince));
  }

  /**
   * Whether the last measurement is too old to go by; once a second at most while nothing is
   * written.
   */
  isStale(nowMs: number): boolean {
    return (
      Math.abs(nowMs - this.#measuredAtMs) >= remeasureAfterMs ||
      this.#writtenSince >= remeasureAfterBytes
    );
  }
}
