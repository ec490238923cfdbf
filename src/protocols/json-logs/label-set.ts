/**
 * The labels of one event: unique keys, each with the byte range of its value. Reused; allocates
 * nothing per label.
 */
import { createKeyTable, findKey, hashKey } from '../../codec/key-table.ts';

/** How to copy the bytes of a value; null counts as absent. A given value is not in the event. */
export const valueKind = { absent: 0, verbatim: 1, escaped: 2, given: 3 } as const;
export type ValueKind = (typeof valueKind)[keyof typeof valueKind];

/** Origin of a label. The `labels` object takes precedence over a top-level key. */
export const labelOrigin = { topLevel: 0, labelsObject: 1 } as const;
export type LabelOrigin = (typeof labelOrigin)[keyof typeof labelOrigin];

/** More labels reject the event. */
export const maxLabels = 1000;
/** Has room for fields that become labels. */
const capacity = 1056;
const tableSize = 4096;
const maxStamp = 0xffff;

/**
 * Label keys that also fill the Kubernetes columns, in the order of those columns: OpenTelemetry's,
 * those of ECS, and those of Fluent Bit's filter.
 */
const kubernetesKeys = [
  ['k8s.cluster.name', 'orchestrator.cluster.name'],
  ['k8s.namespace.name', 'kubernetes.namespace', 'kubernetes.namespace_name'],
  ['k8s.node.name', 'kubernetes.node.name', 'kubernetes.host'],
  ['k8s.pod.name', 'kubernetes.pod.name', 'kubernetes.pod_name'],
  ['k8s.container.name', 'kubernetes.container.name', 'kubernetes.container_name'],
  ['k8s.deployment.name', 'kubernetes.deployment.name'],
] as const;
const kubernetesTable = createKeyTable(kubernetesKeys.flat());
const kubernetesColumns = kubernetesKeys.flatMap((keys, column) => keys.map(() => column));
const letterK = 0x6b;
const letterO = 0x6f;

export class LabelSet {
  count = 0;
  /** True if the event has more than `maxLabels` keys. */
  overflowed = false;
  readonly keySource: Buffer[] = [];
  readonly keyStart = new Int32Array(capacity);
  readonly keyEnd = new Int32Array(capacity);
  readonly valueStart = new Int32Array(capacity);
  readonly valueEnd = new Int32Array(capacity);
  readonly kind = new Uint8Array(capacity);
  /** Values of kind `given`. */
  readonly given: Buffer[] = [];
  /** Index of the label that fills each Kubernetes column, or -1. */
  readonly kubernetes = new Int32Array(kubernetesKeys.length).fill(-1);
  readonly #origin = new Uint8Array(capacity);
  readonly #table = new Int32Array(tableSize);
  /** Number of the event that a slot belongs to; starts over after `maxStamp` events. */
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

  /** Clears the set and releases the buffers. */
  release(): void {
    this.clear();
    this.keySource.length = 0;
    this.given.length = 0;
  }

  /** Drops the labels of an earlier `labels` object: the last of repeated keys counts. */
  dropLabelsObject(): void {
    for (let i = 0; i < this.count; i += 1) {
      if (this.#origin[i] === labelOrigin.labelsObject) {
        this.kind[i] = valueKind.absent;
        this.#origin[i] = labelOrigin.topLevel;
      }
    }
  }

  /** @returns the index for `set`, or -1 if the label is dropped */
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

  /** @returns the index of the label, or -1 */
  indexOf(key: Buffer): number {
    const at = this.#find(hashKey(key, 0, key.length), key, 0, key.length);
    return this.#tableStamp[at] === this.#stamp ? this.#table[at]! : -1;
  }

  /** Adds a field as a label. @returns -1 if the event has a label of this name */
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

  /** Sets a value that is not in the event. */
  give(index: number, value: Buffer): void {
    this.kind[index] = valueKind.given;
    this.given[index] = value;
  }

  /** Number of labels that are not null. */
  present(): number {
    let present = 0;
    for (let i = 0; i < this.count; i += 1) if (this.kind[i] !== valueKind.absent) present += 1;
    return present;
  }

  /** @returns the slot of the key, or the free slot for it */
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
    if (source[start] === letterK || source[start] === letterO) {
      const key = findKey(kubernetesTable, source, start, end);
      if (key >= 0) {
        this.kubernetes[kubernetesColumns[key]!] = index;
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
