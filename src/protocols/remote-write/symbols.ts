/** The table of texts of a remote_write 2.0 request. */
import { AppError } from '../../model/errors.ts';

const maxSymbols = 2_000_000;
/** UTF-8 bytes of one UTF-16 unit. */
const maxBytesPerUnit = 3;

export class Symbols {
  readonly #body: Buffer;
  /** Start and end of each symbol in the body. */
  readonly #ranges: number[] = [];

  constructor(body: Buffer) {
    this.#body = body;
  }

  get count(): number {
    return this.#ranges.length / 2;
  }

  /** @throws AppError `too_large` */
  add(start: number, end: number): void {
    if (this.count === maxSymbols) {
      const message = `cannot accept more than ${maxSymbols} symbols: send fewer series at once`;
      throw new AppError('too_large', message);
    }
    this.#ranges.push(start, end);
  }

  /**
   * @param maxUnits a longer text is refused later, so its beginning is enough
   * @returns its range in the body. @throws AppError `malformed`
   */
  range(reference: number, maxUnits: number): [start: number, end: number] {
    const start = this.#ranges[2 * reference];
    if (start === undefined) {
      const message = `cannot find symbol ${reference}: the request has ${this.count}`;
      throw new AppError('malformed', message);
    }
    const end = this.#ranges[2 * reference + 1]!;
    let cut = start + maxBytesPerUnit * (maxUnits + 2);
    if (end <= cut) return [start, end];
    while (cut > start && (this.#body[cut]! & 0xc0) === 0x80) cut -= 1;
    return [start, cut];
  }

  text(reference: number, maxUnits: number): string {
    return this.#body.toString('utf8', ...this.range(reference, maxUnits));
  }
}
