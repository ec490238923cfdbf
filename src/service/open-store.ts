/** Opens the store, and what fills it and keeps it in bounds. */
import type { Config } from '../config/schema.ts';
import { rolesOf } from '../config/roles.ts';
import type { Directory } from '../directory/port.ts';
import { openEngine } from '../engine/supervisor.ts';
import { openDrain } from '../ingest/drain.ts';
import type { Opened } from './open-directory.ts';
import * as options from './options.ts';
import type { Queue, Shard, ShardWork } from '../queue/port.ts';
import { type ClickHouseStore, openClickHouseStore } from '../store/clickhouse.ts';
import { createHousekeeping } from '../store/housekeeping.ts';
import { openHousekeepingTimer } from '../store/housekeeping-timer.ts';
import { createDrainTelemetry } from '../telemetry/drain-events.ts';
import { createEngineEvents } from '../telemetry/engine-events.ts';
import type { Instruments } from '../telemetry/instruments.ts';

/** On the engine of this process, or on a server. */
export async function openStore(
  config: Readonly<Config>,
  opened: Opened,
  instruments: Instruments,
): Promise<ClickHouseStore> {
  const engine = rolesOf(config).has('engine')
    ? opened(await openEngine(options.toEngineOptions(config), createEngineEvents(instruments)))
    : undefined;
  return opened(await openClickHouseStore(options.toStoreOptions(config, engine), instruments));
}

export interface WriterParts {
  readonly queue: Queue;
  readonly store: ClickHouseStore;
  readonly directory: Pick<Directory, 'listAllStreams'>;
  readonly instruments: Instruments;
}

/**
 * A drain for each shard that is this process's; who has the first of all also keeps house.
 * @throws Error where others drain the same queue into another store
 */
export async function openWriter(
  config: Readonly<Config>,
  { queue, store, directory, instruments }: WriterParts,
): Promise<ShardWork> {
  await queue.bindStore(await store.identity());
  const telemetry = createDrainTelemetry(instruments);
  const housekeepingOptions = options.toHousekeepingOptions(config);
  const streams = () => directory.listAllStreams();
  const keepHouse = () => {
    const housekeeping = createHousekeeping({ store, streams, now: Date.now }, housekeepingOptions);
    return openHousekeepingTimer(housekeeping, housekeepingOptions.everyMs);
  };
  return queue.work((shard: Shard) => {
    const housekeeping = shard.isFirst ? keepHouse() : undefined;
    const drain = openDrain({ shard, queue, store, telemetry }, options.toDrainOptions(config));
    return {
      ended: drain.ended,
      async close() {
        await Promise.all([drain.close(), housekeeping?.close()]);
      },
    };
  });
}
