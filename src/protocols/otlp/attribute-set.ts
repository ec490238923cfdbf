/**
 * The attributes of one resource, scope or log record: unique keys, each with the bytes of its
 * value's text. Reused; allocates nothing per attribute.
 */
import { createKeyTable, findKey, hashKey } from '../../codec/key-table.ts';

/** Further attributes are dropped and counted. */
export const maxAttributes = 1000;
/** Has room for attributes that Weir adds. */
const capacity = 1024;
/** Up to this many keys are searched linearly, more by hash. */
const comparedKeys = 32;
const tableSize = 2048;
/** Length prefixes of key and value. */
const lengthBytes = 10;

/**
 * Attributes that also fill a column, in the order of the columns. The first three columns precede
 * the body, the others follow it (`logRowFields`).
 */
export const columnKeys = [
  'service.name',
  'service.namespace',
  'host.name',
  'k8s.cluster.name',
  'k8s.namespace.name',
  'k8s.node.name',
  'k8s.pod.name',
  'k8s.container.name',
  'k8s.deployment.name',
] as const;
const columnTable = createKeyTable(columnKeys);

/** Sources must not change until the set is cleared. Texts are valid UTF-8. */
export class AttributeSet {
  count = 0;
  /** Upper bound of their bytes in a row. */
  rowBytes = 0;
  /** Number of repeated keys. */
  repeated = 0;
  /** Number of attributes beyond `maxAttributes`. */
  leftOut = 0;
  readonly keySource: Buffer[] = [];
  readonly keyStart = new Int32Array(capacity);
  readonly keyEnd = new Int32Array(capacity);
  readonly valueSource: Buffer[] = [];
  readonly valueStart = new Int32Array(capacity);
  readonly valueEnd = new Int32Array(capacity);
  /** Index of the attribute that fills each of `columnKeys`, or -1. */
  readonly columns = new Int16Array(columnKeys.length).fill(-1);
  readonly #marks = new Int32Array(capacity);
  #hasColumns = false;
  /** Index + 1 by hash of the key; 0 = free. Used beyond `comparedKeys`. */
  readonly #table = new Uint16Array(tableSize);

  clear(): void {
    this.count = 0;
    this.rowBytes = 0;
    this.repeated = 0;
    this.leftOut = 0;
    if (!this.#hasColumns) return;
    this.columns.fill(-1);
    this.#hasColumns = false;
  }

  /** Clears the set and releases the buffers. */
  release(): void {
    this.clear();
    this.keySource.length = 0;
    this.valueSource.length = 0;
  }

  /** True if further keys are dropped. */
  get isFull(): boolean {
    return this.count + this.repeated >= maxAttributes;
  }

  /**
   * Adds a key with an empty value, or finds a repeated key: its last value counts.
   * @returns the index for `set`, or -1 if the attribute is dropped
   */
  add(source: Buffer, start: number, end: number): number {
    if (this.isFull) {
      this.leftOut += 1;
      return -1;
    }
    const known = this.#find(source, start, end);
    if (known < 0) return this.#append(source, start, end);
    this.repeated += 1;
    return known;
  }

  /** Adds an attribute of Weir. @returns -1 if the sender uses the key */
  addOwn(key: Buffer): number {
    return this.#find(key, 0, key.length) >= 0 ? -1 : this.#append(key, 0, key.length);
  }

  /** @param index -1 is ignored. */
  set(index: number, source: Buffer, start: number, end: number): void {
    if (index < 0) return;
    this.valueSource[index] = source;
    this.valueStart[index] = start;
    this.valueEnd[index] = end;
    this.rowBytes += end - start;
  }

  /** True if the column has a non-empty value. */
  fills(column: number): boolean {
    const index = this.columns[column]!;
    return index >= 0 && this.valueEnd[index]! > this.valueStart[index]!;
  }

  get hasColumns(): boolean {
    return this.#hasColumns;
  }

  #find(source: Buffer, start: number, end: number): number {
    if (this.count > comparedKeys) return this.#table[this.#seek(source, start, end)]! - 1;
    const mark = toMark(source, start, end);
    for (let index = 0; index < this.count; index += 1) {
      if (this.#marks[index] === mark && this.#isKey(index, source, start, end)) return index;
    }
    return -1;
  }

  #append(source: Buffer, start: number, end: number): number {
    const index = this.count++;
    this.keySource[index] = source;
    this.keyStart[index] = start;
    this.keyEnd[index] = end;
    this.#marks[index] = toMark(source, start, end);
    this.rowBytes += end - start + lengthBytes;
    this.set(index, source, start, start);
    if (index > comparedKeys) this.#table[this.#seek(source, start, end)] = index + 1;
    else if (index === comparedKeys) this.#fillTable();
    if (mayFillColumn(source[start]!)) this.#noteColumn(index, source, start, end);
    return index;
  }

  #noteColumn(index: number, source: Buffer, start: number, end: number): void {
    const column = findKey(columnTable, source, start, end);
    if (column < 0) return;
    this.columns[column] = index;
    this.#hasColumns = true;
  }

  #fillTable(): void {
    this.#table.fill(0);
    for (let index = 0; index < this.count; index += 1) {
      const at = this.#seek(this.keySource[index]!, this.keyStart[index]!, this.keyEnd[index]!);
      this.#table[at] = index + 1;
    }
  }

  /** @returns the slot of the key, or the free slot for it */
  #seek(source: Buffer, start: number, end: number): number {
    let at = hashKey(source, start, end) & (tableSize - 1);
    for (;;) {
      const index = this.#table[at]! - 1;
      if (index < 0 || this.#isKey(index, source, start, end)) return at;
      at = (at + 1) & (tableSize - 1);
    }
  }

  #isKey(index: number, source: Buffer, start: number, end: number): boolean {
    const knownStart = this.keyStart[index]!;
    if (this.keyEnd[index]! - knownStart !== end - start) return false;
    const known = this.keySource[index]!;
    for (let i = 0; i < end - start; i += 1) {
      if (known[knownStart + i] !== source[start + i]) return false;
    }
    return true;
  }
}

/** A cheap filter before comparing keys: length, last byte and middle byte. */
function toMark(source: Buffer, start: number, end: number): number {
  if (end === start) return 0;
  return ((end - start) << 16) | (source[end - 1]! << 8) | source[(start + end) >> 1]!;
}

/** Every key in `columnKeys` begins with one of these: s, h, k. */
function mayFillColumn(first: number): boolean {
  return first === 0x73 || first === 0x68 || first === 0x6b;
}
