/**
 * The labels of one event: unique keys, each with the byte range of its value. Reused; allocates
 * nothing per label.
 */
import { KeySet } from '../../codec/key-set.ts';
import { createKeyTable, findKey } from '../../codec/key-table.ts';

/** How to copy the bytes of a value; null counts as absent. A given value is not in the event. */
export const valueKind = { absent: 0, verbatim: 1, escaped: 2, given: 3 } as const;
export type ValueKind = (typeof valueKind)[keyof typeof valueKind];

/** Origin of a label. The `labels` object takes precedence over a top-level key. */
export const labelOrigin = { topLevel: 0, labelsObject: 1 } as const;
export type LabelOrigin = (typeof labelOrigin)[keyof typeof labelOrigin];

/** More labels reject the event. */
export const maxLabels = 1000;
/** Has room for all fields that may become labels, and for those of protocols. */
const capacity = 1200;
const tableSize = 4096;

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

export class LabelSet extends KeySet {
  /** True if the event has more than `maxLabels` keys. */
  overflowed = false;
  readonly valueStart = new Int32Array(capacity);
  readonly valueEnd = new Int32Array(capacity);
  readonly kind = new Uint8Array(capacity);
  /** Values of kind `given`. */
  readonly given: Buffer[] = [];
  /** Index of the label that fills each Kubernetes column, or -1. */
  readonly kubernetes = new Int32Array(kubernetesKeys.length).fill(-1);
  readonly #origin = new Uint8Array(capacity);
  #hasKubernetes = false;

  constructor() {
    super(capacity, tableSize);
  }

  override clear(): void {
    super.clear();
    this.overflowed = false;
    if (!this.#hasKubernetes) return;
    this.kubernetes.fill(-1);
    this.#hasKubernetes = false;
  }

  override release(): void {
    super.release();
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
    const known = this.find(source, start, end);
    if (known >= 0) {
      if (this.#origin[known]! > origin) return -1;
      this.#origin[known] = origin;
      return known;
    }
    if (this.count >= maxLabels) {
      this.overflowed = true;
      return -1;
    }
    const index = this.append(source, start, end);
    this.#origin[index] = origin;
    return index;
  }

  /** @returns the index of the label, or -1 */
  indexOf(key: Buffer): number {
    return this.find(key, 0, key.length);
  }

  /** Adds a field as a label. @returns -1 if the event has a label of this name */
  keep(key: Buffer): number {
    return this.find(key, 0, key.length) >= 0 ? -1 : this.append(key, 0, key.length);
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

  override append(source: Buffer, start: number, end: number): number {
    const index = super.append(source, start, end);
    this.kind[index] = valueKind.absent;
    this.#origin[index] = labelOrigin.topLevel;
    if (source[start] === letterK || source[start] === letterO) {
      const key = findKey(kubernetesTable, source, start, end);
      if (key >= 0) {
        this.kubernetes[kubernetesColumns[key]!] = index;
        this.#hasKubernetes = true;
      }
    }
    return index;
  }
}
