/**
 * Reports damaged data of the store: parts that ClickHouse put aside, and checksum errors that
 * reads and merges met. ClickHouse reports neither by itself.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import {
  compileCorruption,
  compileDetachedParts,
  type CorruptionRow,
  type DetachedRow,
} from './sql/part-health.ts';

export interface DamageWatch {
  /** Reports what is new since the last look. @throws what the connection throws */
  look(): Promise<void>;
}

type WatchedStore = Pick<ClickHouseStore, 'connection' | 'placement' | 'events'>;

export function createDamageWatch({ connection, placement, events }: WatchedStore): DamageWatch {
  let known = new Set<string>();
  const counted = new Map<string, number>();

  async function lookAtDetached(): Promise<void> {
    const query = compileDetachedParts(placement);
    const rows = await connection.query<DetachedRow>('housekeeping', query);
    const fresh = rows.filter(([, , , path]) => !known.has(path));
    known = new Set(rows.map(([, , , path]) => path));
    events.partsDetached(
      rows.length,
      fresh.map(([table, part, reason, path]) => ({ table, part, reason, path })),
    );
  }

  /** The counts of a server cover all of its databases, so they say nothing about this one. */
  async function lookAtErrors(): Promise<void> {
    const rows = await connection.query<CorruptionRow>('housekeeping', compileCorruption());
    for (const [name, text, message] of rows) {
      const count = Number(text);
      const before = counted.get(name) ?? 0;
      // A new engine process counts from zero.
      const added = count >= before ? count - before : count;
      if (added > 0) events.corruptionFound({ name, count: added, message });
      counted.set(name, count);
    }
  }

  return {
    async look() {
      await lookAtDetached();
      if (placement.cluster === undefined) await lookAtErrors();
    },
  };
}
