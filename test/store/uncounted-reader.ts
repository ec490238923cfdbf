/** Reads of logs without counts in memory, to compare with. */
import { createLogReader } from '../../src/store/log-reader.ts';
import { noUnusedColumns } from '../../src/store/pages/unused-columns.ts';
import type { ReaderParts } from '../../src/store/read-time.ts';

export function uncountedReader(reader: ReaderParts): ReturnType<typeof createLogReader> {
  return createLogReader({
    ...reader,
    floor: { nanos: () => 0n, lower: () => undefined },
    spreads: { of: async () => undefined },
    columns: noUnusedColumns,
    counted: undefined,
    recent: undefined,
  });
}
