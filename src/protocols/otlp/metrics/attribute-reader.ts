/** Reads attributes of resources, scopes, points and exemplars as texts. */
import type { ProtobufWire } from '../../../codec/protobuf-wire.ts';
import type { Label } from '../../../model/metric-plan.ts';
import { Attributed, logWarnings, type WarningCounts } from '../log-record.ts';
import { ProtobufValues } from '../protobuf-values.ts';

export class AttributeReader extends Attributed {
  readonly #wire: ProtobufWire;
  readonly #values: ProtobufValues;
  readonly #warnings: WarningCounts;

  constructor(wire: ProtobufWire, warnings: WarningCounts, maxDepth: number) {
    super();
    this.#wire = wire;
    this.#values = new ProtobufValues(wire, warnings, { maxDepth });
    this.#warnings = warnings;
  }

  /** Reads a string, starting at its length. */
  text(end: number): string {
    this.#values.readText(this.#wire.lengthEnd(end));
    const { source, start, end: textEnd } = this.#values.text;
    return source.toString('utf8', start, textEnd);
  }

  /** Adds a `KeyValue`, starting at its length. */
  add(end: number): void {
    this.#values.readAttribute(this, end);
  }

  /** Reads attributes whose fields, with tags, are in `ranges`. Moves the cursor. */
  readRanges(ranges: readonly number[]): Label[] {
    for (let range = 0; range < ranges.length; range += 2) {
      const end = ranges[range + 1]!;
      this.#wire.at = ranges[range]!;
      this.#wire.tag(end);
      this.add(end);
    }
    return this.take();
  }

  /** The attributes added since the last call. */
  take(): Label[] {
    const set = this.attributes;
    const labels: Label[] = [];
    for (let i = 0; i < set.count; i += 1) {
      const key = set.keySource[i]!.toString('utf8', set.keyStart[i], set.keyEnd[i]);
      const value = set.valueSource[i]!.toString('utf8', set.valueStart[i], set.valueEnd[i]);
      labels.push([key, value]);
    }
    this.#warnings.add(logWarnings.repeatedKey, set.repeated);
    this.#warnings.add(logWarnings.tooManyAttributes, set.leftOut);
    set.clear();
    this.texts.clear();
    return labels;
  }
}
