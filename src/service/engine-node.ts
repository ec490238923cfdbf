/** An engine-only process: the embedded engine behind a TCP port, and ops. */
import { writeEngineAddresses } from '../admin/quickstart.ts';
import { discardBody, discardPatience } from '../admission/body.ts';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import { openEngineFront } from '../engine/front.ts';
import { openOpsServer } from '../server/server.ts';
import { createEngineFrontEvents } from '../telemetry/store-events.ts';
import { createHttpEvents } from '../telemetry/request-events.ts';
import { toServerOptions } from './addresses.ts';
import { assertLocalLogDrained } from './open-queue.ts';
import { openEmbeddedEngine } from './open-store.ts';
import { openDataFolder, Parts, startOpening } from './opening.ts';
import { createProtocols } from './protocols.ts';
import { createReadiness } from './readiness.ts';

export interface EngineNode {
  /** The `store.url` of the other processes. */
  readonly storeUrl: string;
  readonly opsUrl: string;
  /** Lets running queries end in time, then stops the engine. */
  close(): Promise<void>;
}

export function isEngineOnly(config: Readonly<Config>): boolean {
  const roles = rolesOf(config);
  return roles.size === 1 && roles.has('engine');
}

/** @throws Error for the operator when a part cannot be opened; those opened before are closed */
export async function openEngineNode(config: Readonly<Config>): Promise<EngineNode> {
  await using parts = new Parts();
  const opening = startOpening(config, parts);
  const { instruments } = opening;
  const dataDir = openDataFolder(opening);
  await assertLocalLogDrained(config);
  const engine = await openEmbeddedEngine(opening);
  const { host, port } = config.engine;
  const { user, password } = config.store;
  const frontEvents = createEngineFrontEvents(instruments);
  const front = parts.own(
    await openEngineFront(engine, { host, port, user, password }, frontEvents),
  );
  const readiness = createReadiness(undefined, { ping: async () => engine.ready() });
  const { ops, closing } = toServerOptions(config);
  const server = parts.own(
    await openOpsServer(
      ops,
      closing,
      {
        missing: readiness.missing,
        metrics: instruments.metrics,
        admission: {
          discardBody: (body, bytes) => discardBody(body, bytes, discardPatience),
          // No route of this process takes a token.
          paceFailure: () => Promise.resolve('at once'),
        },
        protocols: createProtocols(config),
      },
      createHttpEvents(instruments),
    ),
  );
  const addresses = {
    storeUrl: `http://${host || '127.0.0.1'}:${front.port}`,
    opsUrl: `http://${ops.host || '127.0.0.1'}:${server.ports.ops}`,
  };
  writeEngineAddresses(dataDir, addresses);

  const opened = parts.move();
  return {
    ...addresses,
    async close() {
      await readiness.leave(config.shutdownDelaySeconds);
      await opened.disposeAsync();
    },
  };
}
