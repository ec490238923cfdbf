/**
 * The attributes of one resource, scope or log record while it is read: unique keys, each with the
 * bytes of its value's text. Reused from one to the next; nothing is allocated per attribute.
 */
import { randomInt } from 'node:crypto';
import { createKeyTable, findKey } from '../../codec/key-table.ts';

/** Further ones are left out and counted. */
export const maxAttributes = 1000;
/** Leaves room for what Weir itself adds. */
const capacity = 1024;
/** Up to so many keys are compared with each other; beyond, a table finds them. */
const comparedKeys = 32;
const tableSize = 2048;
const seed = randomInt(0x7fff_ffff);
/** Lengths of key and value before their bytes. */
const lengthBytes = 10;

/**
 * Attributes that fill a column of their own, in the order of the columns; the first three stand
 * apart from the others (`logRowFields`).
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

/** Every source is a buffer that nobody changes until the set is cleared. Texts are valid UTF-8. */
export class AttributeSet {
  count = 0;
  /** Upper bound of what they take in a row. */
  rowBytes = 0;
  /** Keys that came again. */
  repeated = 0;
  /** Attributes beyond `maxAttributes`. */
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
  /** Index + 1 by hash of key; 0 = free. Filled once there are more than `comparedKeys`. */
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

  /** Also lets go of the buffers. */
  release(): void {
    this.clear();
    this.keySource.length = 0;
    this.valueSource.length = 0;
  }

  /** True where no more will be added, repeated keys included. */
  get isFull(): boolean {
    return this.count + this.repeated >= maxAttributes;
  }

  /**
   * Adds a key, or finds it again: the last value set counts. Its value is empty until it is set.
   * @returns the index to `set` its value at, or -1 where it is one too many.
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

  /** Adds what Weir itself has to say, unless the sender uses that key: then -1. */
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

  /** True where the column has a value, and that is not empty. */
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

  /** @returns the table's place of this key, or the free one where it belongs. */
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

/** Keys that differ mostly differ in this, too: length, and the bytes at end and middle. */
function toMark(source: Buffer, start: number, end: number): number {
  if (end === start) return 0;
  return ((end - start) << 16) | (source[end - 1]! << 8) | source[(start + end) >> 1]!;
}

/** FNV-1a with a secret start, so that nobody can choose keys that collide. */
function hashKey(source: Buffer, start: number, end: number): number {
  let hash = seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ source[i]!, 0x0100_0193);
  return hash ^ (hash >>> 15);
}

/** Every key in `columnKeys` begins with one of these: s, h, k. */
function mayFillColumn(first: number): boolean {
  return first === 0x73 || first === 0x68 || first === 0x6b;
}
