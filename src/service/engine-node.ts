/** A process that is nothing but the store of others: the engine, its TCP port and the ops port. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeEngineAddresses } from '../admin/quickstart.ts';
import { discardBody, discardPatience } from '../admission/body.ts';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import { openEngineFront } from '../engine/front.ts';
import { openEngine } from '../engine/supervisor.ts';
import * as options from './options.ts';
import { toProtocols } from './protocols.ts';
import { refuseForsakenLog } from './open-queue.ts';
import { createReadiness } from './readiness.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { openOpsServer } from '../server/ops-surface.ts';
import { createDataFolderEvents } from '../telemetry/data-folder-events.ts';
import { createEngineEvents } from '../telemetry/engine-events.ts';
import { createEngineFrontEvents } from '../telemetry/engine-front-events.ts';
import { createHttpEvents } from '../telemetry/http-events.ts';
import { createInstruments } from '../telemetry/instruments.ts';

export interface EngineNode {
  /** What other processes have as their `store.url`. */
  readonly storeUrl: string;
  readonly opsUrl: string;
  /** Lets queries under way end in time, then stops the engine. */
  close(): Promise<void>;
}

export function isEngineAlone(config: Readonly<Config>): boolean {
  const roles = rolesOf(config);
  return roles.size === 1 && roles.has('engine');
}

/** @throws Error in words for the operator when a part cannot be opened */
export async function openEngineNode(config: Readonly<Config>): Promise<EngineNode> {
  await using parts = new AsyncDisposableStack();
  const opened = <Part extends { close(): Promise<void> }>(part: Part) =>
    parts.adopt(part, (it) => it.close());
  const dataDir = resolve(config.data);
  const instruments = createInstruments(config.logLevel);

  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = parts.adopt(lockDirectory(dataDir), (it) => it.release());
  if (lock.isMended) createDataFolderEvents(instruments).lockMended(dataDir);
  await refuseForsakenLog(config);
  const engineEvents = createEngineEvents(instruments);
  const engine = opened(await openEngine(options.toEngineOptions(config), engineEvents));
  const frontEvents = createEngineFrontEvents(instruments);
  const front = opened(await openEngineFront(engine, options.toFrontOptions(config), frontEvents));
  const readiness = createReadiness(undefined, { ping: async () => engine.ready() });
  const { ops, closing } = options.toServerOptions(config);
  const server = opened(
    await openOpsServer(ops, closing, {
      missing: readiness.missing,
      metrics: instruments.metrics,
      admission: {
        discardBody: (body, bytes) => discardBody(body, bytes, discardPatience),
        // No route of this process takes a token.
        paceFailure: () => Promise.resolve('at once'),
      },
      events: createHttpEvents(instruments),
      protocols: toProtocols(config),
    }),
  );
  const addresses = {
    storeUrl: `http://${config.engine.host || '127.0.0.1'}:${front.port}`,
    opsUrl: `http://${ops.host || '127.0.0.1'}:${server.ports.ops}`,
  };
  writeEngineAddresses(dataDir, addresses);

  const running = parts.move();
  return {
    ...addresses,
    async close() {
      await readiness.leave(config.shutdownDelaySeconds);
      await running.disposeAsync();
    },
  };
}
