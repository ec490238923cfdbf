/** An event in a batch of `logs/1` rows: reads fields on demand, copies the others as bytes. */
import { logRowFields } from '../codec/log-rows.ts';
import type { RowWriter } from '../codec/row-writer.ts';
import { toSeverityNumber, toSeverityWord } from '../model/severity.ts';
import { type ColumnField, columnFields, fits, isColumn, type TransformEvent } from './event.ts';

const names = logRowFields.map(([name]) => name);
const types = logRowFields.map(([, type]) => type);
const indexOf = (name: (typeof names)[number]): number => names.indexOf(name);
const columnIndex = new Map(
  Object.entries(columnFields).map(([field, name]) => [field as ColumnField, indexOf(name)]),
);
const body = indexOf('body');
const severityText = indexOf('severityText');
const severityNumber = indexOf('severityNumber');
const logAttributes = indexOf('logAttributes');
const attributeMaps = [logAttributes, indexOf('resourceAttributes'), indexOf('scopeAttributes')];
/** Of a length or a count. */
const maxVarintBytes = 5;

export class RowEvent implements TransformEvent {
  readonly #bytes: Buffer;
  /** End of each field; the first starts at `#start`. */
  readonly #ends = names.map(() => 0);
  #start = 0;
  readonly #texts = new Map<number, string>();
  readonly #maps = new Map<number, Map<string, string>>();
  #isChanged = false;

  constructor(payload: Uint8Array) {
    this.#bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  /** Moves to the row after the current one. @returns false after the last */
  next(): boolean {
    this.#start = this.#ends.at(-1)!;
    if (this.#start >= this.#bytes.length) return false;
    this.#texts.clear();
    this.#maps.clear();
    this.#isChanged = false;
    let at = this.#start;
    for (const [index, type] of types.entries()) {
      at = this.#skip(at, type);
      this.#ends[index] = at;
    }
    return true;
  }

  get(field: string): string | undefined {
    if (isColumn(field)) return this.#text(columnIndex.get(field)!) || undefined;
    for (const map of attributeMaps) {
      const value = this.#map(map).get(field);
      if (value !== undefined) return value || undefined;
    }
    return undefined;
  }

  set(field: string, value: string): void {
    this.#isChanged = true;
    if (!isColumn(field) || !fits(field, value)) {
      this.#map(logAttributes).set(field, value);
      return;
    }
    const text = field === 'severity' ? toSeverityWord(value).toUpperCase() : value;
    this.#texts.set(columnIndex.get(field)!, field.endsWith('_id') ? text.toLowerCase() : text);
  }

  remove(field: string): void {
    if (isColumn(field)) return this.set(field, '');
    for (const map of attributeMaps) {
      this.#isChanged = this.#map(map).delete(field) || this.#isChanged;
    }
  }

  labels(): number {
    return this.#map(logAttributes).size;
  }

  eachText(change: (value: string, label: string | undefined) => string): void {
    const message = this.#text(body);
    const changed = change(message, undefined);
    if (changed !== message) this.set('message', changed);
    for (const index of attributeMaps) {
      const map = this.#map(index);
      for (const [label, value] of map) {
        const after = change(value, label);
        if (after === value) continue;
        map.set(label, after);
        this.#isChanged = true;
      }
    }
  }

  /** Appends the row. */
  writeTo(rows: RowWriter): void {
    const [start, end] = [this.#start, this.#ends.at(-1)!];
    rows.reserve(end - start);
    if (!this.#isChanged) return rows.raw(this.#bytes, start, end);
    for (const index of names.keys()) this.#writeField(rows, index);
  }

  #writeField(rows: RowWriter, index: number): void {
    const [start, end] = [this.#fieldStart(index), this.#ends[index]!];
    const text = this.#texts.get(index);
    const map = this.#maps.get(index);
    const word = index === severityNumber ? this.#texts.get(severityText) : undefined;
    if (text !== undefined) {
      rows.reserve(3 * text.length + maxVarintBytes);
      rows.text(text);
    } else if (map !== undefined) {
      writeMap(rows, map);
    } else if (word !== undefined && word !== this.#read(severityText)) {
      rows.reserve(1);
      rows.byte(toSeverityNumber(word));
    } else {
      rows.reserve(end - start);
      rows.raw(this.#bytes, start, end);
    }
  }

  #fieldStart(index: number): number {
    return index === 0 ? this.#start : this.#ends[index - 1]!;
  }

  #text(index: number): string {
    let text = this.#texts.get(index);
    if (text === undefined) {
      text = this.#read(index);
      this.#texts.set(index, text);
    }
    return text;
  }

  #read(index: number): string {
    const { at, value: length } = this.#varint(this.#fieldStart(index));
    return this.#bytes.toString('utf8', at, at + length);
  }

  #map(index: number): Map<string, string> {
    const known = this.#maps.get(index);
    if (known !== undefined) return known;
    const map = new Map<string, string>();
    let { at, value: count } = this.#varint(this.#fieldStart(index));
    for (; count > 0; count -= 1) {
      const key = this.#varint(at);
      const value = this.#varint(key.at + key.value);
      at = value.at + value.value;
      map.set(
        this.#bytes.toString('utf8', key.at, key.at + key.value),
        this.#bytes.toString('utf8', value.at, at),
      );
    }
    this.#maps.set(index, map);
    return map;
  }

  #skip(at: number, type: (typeof types)[number]): number {
    if (type === 'Int64') return at + 8;
    if (type === 'UInt8') return at + 1;
    const { at: first, value } = this.#varint(at);
    if (type === 'String') return first + value;
    let end = first;
    for (let texts = 2 * value; texts > 0; texts -= 1) {
      const text = this.#varint(end);
      end = text.at + text.value;
    }
    return end;
  }

  #varint(at: number): { readonly at: number; readonly value: number } {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return { at, value };
    }
  }
}

function writeMap(rows: RowWriter, map: ReadonlyMap<string, string>): void {
  rows.reserve(maxVarintBytes);
  rows.varint(map.size);
  for (const [key, value] of map) {
    rows.reserve(3 * (key.length + value.length) + 2 * maxVarintBytes);
    rows.text(key);
    rows.text(value);
  }
}
