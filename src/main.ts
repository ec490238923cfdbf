/**
 * Weir from start to stop: open the parts bottom-up, serve, wait for a stop signal, close in
 * reverse. src/service/ has the steps; the configured roles decide which ones a process needs.
 */
import { createFirstLink, prepareFirstRun } from './admin/first-run.ts';
import {
  type Addresses,
  type FirstRun,
  readFirstRun,
  writeQuickstart,
} from './admin/quickstart.ts';
import { type Role, rolesOf } from './config/roles.ts';
import type { Config } from './config/schema.ts';
import { type EngineNode, isEngineOnly, openEngineNode } from './service/engine-node.ts';
import { openAlerts } from './service/alerts.ts';
import { openDirectory } from './service/open-directory.ts';
import { openQueue } from './service/open-queue.ts';
import { openStore, openWriter } from './service/open-store.ts';
import { openDataFolder, Parts, startOpening } from './service/opening.ts';
import { tuneRuntime, untilStopSignal } from './service/process.ts';
import { createReadiness } from './service/readiness.ts';
import { sessionsOf } from './service/reads.ts';
import { serve } from './service/serve.ts';

export interface Weir {
  readonly roles: ReadonlySet<Role>;
  readonly addresses: Addresses;
  /** Undefined once the secrets of the first run are deleted. */
  readonly firstRun: FirstRun | undefined;
  /** URL that signs a browser in once; undefined without the token of the first run. */
  readonly signInUrl: string | undefined;
  /** Finishes in-flight requests, syncs the log, stops the engine; the backlog stays queued. */
  close(): Promise<void>;
}

/**
 * Runs until a stop signal and an orderly stop.
 * @param onReady called once all ports accept connections.
 * @throws Error for the operator when a part cannot be opened
 */
export async function run(
  config: Readonly<Config>,
  onReady: (running: Weir | EngineNode) => void,
): Promise<void> {
  tuneRuntime();
  const opening = isEngineOnly(config) ? openEngineNode(config) : openWeir(config);
  const stopSignal = untilStopSignal(opening);
  const running = await opening;
  onReady(running);
  await stopSignal;
  await running.close();
}

/** @throws Error for the operator when a part cannot be opened; those opened before are closed */
async function openWeir(config: Readonly<Config>): Promise<Weir> {
  await using parts = new Parts();
  const opening = startOpening(config, parts);
  const roles = rolesOf(config);

  const dataDir = openDataFolder(opening);
  const directoryParts = await openDirectory(opening);
  const { directory } = directoryParts;
  // The process with the control API creates the first tokens.
  const firstRun = roles.has('stream') ? await prepareFirstRun(directory, dataDir) : undefined;
  const queue = await openQueue(opening);
  const store = await openStore(opening);
  if (store && roles.has('writer')) await openWriter(opening, { queue, store, directory });

  if (store && roles.has('stream')) openAlerts(opening, { ...directoryParts, queue, store });

  const readiness = createReadiness(queue, store);
  const addresses = await serve(opening, { ...directoryParts, queue, store, readiness });
  // Without the control API a process cannot tell whether earlier secrets are used: it keeps them.
  writeQuickstart(dataDir, roles.has('stream') ? firstRun : readFirstRun(dataDir), addresses);

  const link = firstRun && (await createFirstLink(sessionsOf(config, directory), firstRun));

  const opened = parts.move();
  return {
    roles,
    addresses,
    firstRun,
    signInUrl: link && `${addresses.streamUrl}/#sign-in=${link.code}`,
    async close() {
      await readiness.leave(config.shutdownDelaySeconds);
      await opened.disposeAsync();
    },
  };
}
