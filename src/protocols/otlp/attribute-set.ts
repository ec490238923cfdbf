/**
 * The attributes of one resource, scope or log record: unique keys, each with the bytes of its
 * value's text. Reused; allocates nothing per attribute.
 */
import { KeySet } from '../../codec/key-set.ts';
import { createKeyTable, findKey } from '../../codec/key-table.ts';

/** Further attributes are dropped and counted. */
export const maxAttributes = 1000;
/** Has room for attributes that Weir adds. */
const capacity = 1024;
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

/** Texts are valid UTF-8. */
export class AttributeSet extends KeySet {
  /** Upper bound of their bytes in a row. */
  rowBytes = 0;
  /** Number of repeated keys. */
  repeated = 0;
  /** Number of attributes beyond `maxAttributes`. */
  leftOut = 0;
  readonly valueSource: Buffer[] = [];
  readonly valueStart = new Int32Array(capacity);
  readonly valueEnd = new Int32Array(capacity);
  /** Index of the attribute that fills each of `columnKeys`, or -1. */
  readonly columns = new Int16Array(columnKeys.length).fill(-1);
  #hasColumns = false;

  constructor() {
    super(capacity, tableSize);
  }

  override clear(): void {
    super.clear();
    this.rowBytes = 0;
    this.repeated = 0;
    this.leftOut = 0;
    if (!this.#hasColumns) return;
    this.columns.fill(-1);
    this.#hasColumns = false;
  }

  override release(): void {
    super.release();
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
    const known = this.find(source, start, end);
    if (known < 0) return this.append(source, start, end);
    this.repeated += 1;
    return known;
  }

  /** Adds an attribute of Weir. @returns -1 if the sender uses the key */
  addOwn(key: Buffer): number {
    return this.find(key, 0, key.length) >= 0 ? -1 : this.append(key, 0, key.length);
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

  override append(source: Buffer, start: number, end: number): number {
    const index = super.append(source, start, end);
    this.rowBytes += end - start + lengthBytes;
    this.set(index, source, start, start);
    if (mayFillColumn(source[start]!)) this.#noteColumn(index, source, start, end);
    return index;
  }

  #noteColumn(index: number, source: Buffer, start: number, end: number): void {
    const column = findKey(columnTable, source, start, end);
    if (column < 0) return;
    this.columns[column] = index;
    this.#hasColumns = true;
  }
}

/** Every key in `columnKeys` begins with one of these: s, h, k. */
function mayFillColumn(first: number): boolean {
  return first === 0x73 || first === 0x68 || first === 0x6b;
}
