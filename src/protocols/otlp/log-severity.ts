/**
 * The two faces of an OTLP severity, word and number: each completes the other where it is missing
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model, "Severity Fields").
 */
import { createKeyTable, findKey } from '../../codec/key-table.ts';
import { severityNumbers, toSeverityNumber } from '../../model/severity.ts';
import { TextSlot } from './log-record.ts';

export const maxSeverityNumber = 24;
const words = [...severityNumbers.keys()];
const wordTable = createKeyTable(words);
const numbers = Uint8Array.from(severityNumbers.values());
/** OpenTelemetry's short names by number: the first words of `severityNumbers`. */
const shortNames = Array.from({ length: maxSeverityNumber + 1 }, (_, number) =>
  Buffer.from(words.find((word) => number > 0 && severityNumbers.get(word) === number) ?? ''),
);
/** A longer word is none that we know. */
const quickBytes = 32;

/** The last severity that was read; reused from record to record. */
export class LogSeverity {
  /** In upper case; valid until the next `read`. */
  readonly text = new TextSlot();
  /** 0 = unknown, up to `maxSeverityNumber`. */
  number = 0;
  readonly #upper = Buffer.alloc(quickBytes);

  /** @param sentNumber any integer; one out of range is clamped. */
  read(sentText: TextSlot, sentNumber: number): void {
    const number = Math.min(Math.max(sentNumber, 0), maxSeverityNumber);
    if (sentText.length === 0) {
      const name = shortNames[number]!;
      this.text.set(name, 0, name.length);
      this.number = number;
      return;
    }
    const ofWord = this.#raise(sentText) ? this.#findWord() : this.#raiseAny(sentText);
    this.number = number === 0 ? ofWord : number;
  }

  /** Writes a short ASCII word in upper case. @returns false for any other text. */
  #raise({ source, start, end }: TextSlot): boolean {
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

  #raiseAny({ source, start, end }: TextSlot): number {
    const word = source.toString('utf8', start, end).toUpperCase();
    const bytes = Buffer.from(word);
    this.text.set(bytes, 0, bytes.length);
    return toSeverityNumber(word);
  }
}
