/** What is found wrong with data that the store holds. */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

interface PartPlace {
  readonly table: string;
  readonly part: string;
  /** On the disk of the server. */
  readonly path: string;
}

export interface StoreDamageEvents {
  /** The list of tables beside the engine's data is damaged, and written again. */
  inventoryDamaged(file: string): void;
  /** @param total parts that are put aside now @param fresh those not reported before */
  partsDetached(total: number, fresh: readonly (PartPlace & { reason: string })[]): void;
  /** Reads or merges met damaged files. @param error.count since the last report */
  corruptionFound(error: { name: string; count: number; message: string }): void;
  /** A file of the part does not match its checksum. */
  partDamaged(part: PartPlace & { message: string }): void;
  /** @param parts.due parts whose checksums are yet to be verified */
  partsScrubbed(parts: { due: number; damaged: number }): void;
}

const mostPartsLogged = 20;

export function createStoreDamageEvents({ log, metrics }: Instruments): StoreDamageEvents {
  const registers = [metrics];
  const damagedParts = new Gauge({
    name: 'weir_store_damaged_parts',
    help: 'Data parts that are put aside as broken (detached) or fail their checksums (corrupt)',
    labelNames: ['state'],
    registers,
  });
  const corruptionErrors = new Counter({
    name: 'weir_store_corruption_errors_total',
    help: 'Reads and merges of the store that met damaged files',
    registers,
  });
  const unscrubbedParts = new Gauge({
    name: 'weir_store_unscrubbed_parts',
    help: 'Data parts whose checksums are due to be verified, as of the last round',
    registers,
  });
  return {
    inventoryDamaged(file) {
      log.error({ file }, 'cannot check that no table is missing: the list of tables is damaged');
    },
    partsDetached(total, fresh) {
      damagedParts.set({ state: 'detached' }, total);
      if (fresh.length === 0) return;
      log.error(
        { parts: fresh.slice(0, mostPartsLogged), total: fresh.length },
        'store has put damaged parts aside: reads lack their rows',
      );
    },
    corruptionFound(error) {
      corruptionErrors.inc(error.count);
      log.error(error, 'store met damaged data');
    },
    partDamaged(part) {
      log.error(part, 'store has a part that does not match its checksums');
    },
    partsScrubbed({ due, damaged }) {
      damagedParts.set({ state: 'corrupt' }, damaged);
      unscrubbedParts.set(due);
    },
  };
}
