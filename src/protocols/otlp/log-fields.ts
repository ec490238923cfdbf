/** Normalises severities and times of OTLP log records. */
import { createKeyTable, findKey } from '../../codec/key-table.ts';
import type { EventTime } from '../../codec/event-time.ts';
import { maxEventTimeMillis } from '../../model/log-id.ts';
import { severityNumbers, toSeverityNumber } from '../../model/severity.ts';
import { TextSlot } from './log-record.ts';

export const maxSeverityNumber = 24;
const words = [...severityNumbers.keys()];
const wordTable = createKeyTable(words);
const numbers = Uint8Array.from(severityNumbers.values());
/** Short names by number: the first word of `severityNumbers` with that number. */
const shortNames = Array.from({ length: maxSeverityNumber + 1 }, (_, number) =>
  Buffer.from(words.find((word) => number > 0 && severityNumbers.get(word) === number) ?? ''),
);
/** Longer words are unknown. */
const quickBytes = 32;

/**
 * A severity text and number that complete each other
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model, "Severity Fields"). Reused.
 */
export class LogSeverity {
  /** In upper case; valid until the next `read`. */
  readonly text = new TextSlot();
  /** 0 = unknown, up to `maxSeverityNumber`. */
  number = 0;
  readonly #upper = Buffer.alloc(quickBytes);

  /** @param sentNumber any integer; clamped to the range */
  read(sentText: TextSlot, sentNumber: number): void {
    const number = Math.min(Math.max(sentNumber, 0), maxSeverityNumber);
    if (sentText.length === 0) {
      const name = shortNames[number]!;
      this.text.set(name, 0, name.length);
      this.number = number;
      return;
    }
    const ofWord = this.#toUpper(sentText) ? this.#findWord() : this.#toUpperAny(sentText);
    this.number = number === 0 ? ofWord : number;
  }

  /** Writes a short ASCII word in upper case. @returns false for another text */
  #toUpper({ source, start, end }: TextSlot): boolean {
    const length = end - start;
    if (length > quickBytes) return false;
    for (let i = 0; i < length; i += 1) {
      const byte = source[start + i]!;
      if (byte >= 0x80) return false;
      this.#upper[i] = byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
    }
    this.text.set(this.#upper, 0, length);
    return true;
  }

  #findWord(): number {
    const index = findKey(wordTable, this.#upper, 0, this.text.end);
    return index < 0 ? 0 : numbers[index]!;
  }

  #toUpperAny({ source, start, end }: TextSlot): number {
    const word = source.toString('utf8', start, end).toUpperCase();
    const bytes = Buffer.from(word);
    this.text.set(bytes, 0, bytes.length);
    return toSeverityNumber(word);
  }
}

/** 2^32 ns in ms and ns. */
const millisPerHigh = 4294;
const nanosPerHigh = 967_296;

/** 1973-03-03. Smaller numbers are not read in another unit. */
const earliestSeconds = 1e8;
const latestSeconds = maxEventTimeMillis / 1000;

export type TimeVerdict = 'exact' | 'absent' | 'corrected' | 'outside';

/**
 * An event time from the 64 bits that a sender wrote: Unix ns, or a common mistake in their place.
 * Never converted to a double, which would round it. Reused.
 */
export class LogTime implements EventTime {
  millis = 0;
  nanos = 0;

  /**
   * A number that is within two months of 1970 as ns, but between 1973 and 2148 in s, ms or µs, is
   * read in that unit.
   * @param high upper 32 bits, unsigned; `low` the lower ones
   * @returns `corrected` if another unit than ns was used; the time is unusable after `absent`
   *   (zero) and `outside` (of 1970 to 2148)
   */
  read(high: number, low: number): TimeVerdict {
    if (high === 0 && low === 0) return 'absent';
    const rest = high * nanosPerHigh + low;
    this.millis = high * millisPerHigh + Math.floor(rest / 1e6);
    this.nanos = rest % 1e6;
    if (this.millis >= maxEventTimeMillis) return 'outside';
    if (this.millis >= latestSeconds) return 'exact';
    return this.#readUnit(this.millis * 1e6 + this.nanos);
  }

  /** @param value below 2^53. */
  #readUnit(value: number): TimeVerdict {
    for (let perSecond = 1; perSecond <= 1e6; perSecond *= 1000) {
      if (value < earliestSeconds * perSecond || value >= latestSeconds * perSecond) continue;
      this.millis = perSecond === 1 ? value * 1000 : Math.floor(value / (perSecond / 1000));
      this.nanos = perSecond === 1e6 ? (value % 1000) * 1000 : 0;
      return 'corrected';
    }
    return 'exact';
  }
}
