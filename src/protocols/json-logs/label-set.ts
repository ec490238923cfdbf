/**
 * The labels of one event while it is read: unique keys, found by hash, each with the range of
 * bytes of its value. Reused from event to event; nothing is allocated per label.
 */
import { randomInt } from 'node:crypto';
import { createKeyTable, findKey } from '../../codec/key-table.ts';

/** How a value's bytes are to be copied. `absent` is a null: as if the key were not there. */
export const valueKind = { absent: 0, verbatim: 1, escaped: 2 } as const;
export type ValueKind = (typeof valueKind)[keyof typeof valueKind];

/**
 * Where a label was found; a label of the `labels` object stands above a top-level key of the same
 * name.
 */
export const labelOrigin = { topLevel: 0, labelsObject: 1 } as const;
export type LabelOrigin = (typeof labelOrigin)[keyof typeof labelOrigin];

/** Of an event as it was sent. */
export const maxLabels = 1000;
/** Leaves room for fields that stay as labels. */
const capacity = 1024;
const tableSize = 4096;
const maxStamp = 0xffff;
const seed = randomInt(0x7fff_ffff);

/** Label keys that also fill the Kubernetes columns, in the order of those columns. */
const kubernetesKeys = [
  'k8s.cluster.name',
  'k8s.namespace.name',
  'k8s.node.name',
  'k8s.pod.name',
  'k8s.container.name',
  'k8s.deployment.name',
] as const;
const kubernetesTable = createKeyTable(kubernetesKeys);

export class LabelSet {
  count = 0;
  /** True once an event had more than `maxLabels` keys. */
  overflowed = false;
  readonly keySource: Buffer[] = [];
  readonly keyStart = new Int32Array(capacity);
  readonly keyEnd = new Int32Array(capacity);
  readonly valueStart = new Int32Array(capacity);
  readonly valueEnd = new Int32Array(capacity);
  readonly kind = new Uint8Array(capacity);
  /** Index of the label that fills each Kubernetes column, or -1. */
  readonly kubernetes = new Int32Array(kubernetesKeys.length).fill(-1);
  readonly #origin = new Uint8Array(capacity);
  readonly #table = new Int32Array(tableSize);
  /** Of which event a place is, by a number that starts over after `maxStamp` events. */
  readonly #tableStamp = new Uint16Array(tableSize);
  #stamp = 0;
  #hasKubernetes = false;

  clear(): void {
    this.count = 0;
    this.overflowed = false;
    if (this.#stamp === maxStamp) {
      this.#tableStamp.fill(0);
      this.#stamp = 0;
    }
    this.#stamp += 1;
    if (!this.#hasKubernetes) return;
    this.kubernetes.fill(-1);
    this.#hasKubernetes = false;
  }

  /** Forgets what came from an earlier `labels` object: the last of repeated keys counts. */
  dropLabelsObject(): void {
    for (let i = 0; i < this.count; i += 1) {
      if (this.#origin[i] === labelOrigin.labelsObject) {
        this.kind[i] = valueKind.absent;
        this.#origin[i] = labelOrigin.topLevel;
      }
    }
  }

  /** @returns where the value's range is to be written, or -1 if this label does not count. */
  add(source: Buffer, start: number, end: number, origin: LabelOrigin): number {
    const hash = hashKey(source, start, end);
    const at = this.#find(hash, source, start, end);
    if (this.#tableStamp[at] === this.#stamp) {
      const known = this.#table[at]!;
      if (this.#origin[known]! > origin) return -1;
      this.#origin[known] = origin;
      return known;
    }
    if (this.count >= maxLabels) {
      this.overflowed = true;
      return -1;
    }
    return this.#append(at, source, start, end, origin);
  }

  /** Adds a field of the event as a label, unless there is one of its name already: then -1. */
  keep(key: Buffer): number {
    const at = this.#find(hashKey(key, 0, key.length), key, 0, key.length);
    if (this.#tableStamp[at] === this.#stamp) return -1;
    return this.#append(at, key, 0, key.length, labelOrigin.topLevel);
  }

  set(index: number, kind: ValueKind, start: number, end: number): void {
    this.kind[index] = kind;
    this.valueStart[index] = start;
    this.valueEnd[index] = end;
  }

  /** Labels that are not null. */
  present(): number {
    let present = 0;
    for (let i = 0; i < this.count; i += 1) if (this.kind[i] !== valueKind.absent) present += 1;
    return present;
  }

  /** @returns the table's place of this key, or the free place where it belongs. */
  #find(hash: number, source: Buffer, start: number, end: number): number {
    let at = hash & (tableSize - 1);
    while (this.#tableStamp[at] === this.#stamp) {
      if (this.#sameKey(this.#table[at]!, source, start, end)) return at;
      at = (at + 1) & (tableSize - 1);
    }
    return at;
  }

  #append(at: number, source: Buffer, start: number, end: number, origin: LabelOrigin): number {
    const index = this.count++;
    this.#tableStamp[at] = this.#stamp;
    this.#table[at] = index;
    this.keySource[index] = source;
    this.keyStart[index] = start;
    this.keyEnd[index] = end;
    this.kind[index] = valueKind.absent;
    this.#origin[index] = origin;
    if (source[start] === 0x6b && source[start + 1] === 0x38) {
      const column = findKey(kubernetesTable, source, start, end);
      if (column >= 0) {
        this.kubernetes[column] = index;
        this.#hasKubernetes = true;
      }
    }
    return index;
  }

  #sameKey(index: number, source: Buffer, start: number, end: number): boolean {
    const knownStart = this.keyStart[index]!;
    if (this.keyEnd[index]! - knownStart !== end - start) return false;
    const known = this.keySource[index]!;
    for (let i = 0; i < end - start; i += 1) {
      if (known[knownStart + i] !== source[start + i]) return false;
    }
    return true;
  }
}

/** FNV-1a with a secret start, so that nobody can choose keys that collide. */
function hashKey(source: Buffer, start: number, end: number): number {
  let hash = seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ source[i]!, 0x0100_0193);
  return hash ^ (hash >>> 15);
}
