/** The scaled-out set as a replacement for the single process in tests of the API. */
import type { NodesOptions, ServiceNodes } from '../harness/service-nodes.ts';
import type { Exit, WeirProcess } from '../harness/weir-process.ts';
import { openScaledSet, type ScaledSet } from './scaled-set.ts';

/** Resolves once its servers run; no node is started. */
export async function openScaledNodes({
  flags = [],
  env = {},
}: NodesOptions): Promise<ServiceNodes> {
  const set = await openScaledSet({
    // The backlog limit is per shard, and tests that set one fill all of it.
    env: flags.includes('--queue-max-backlog-bytes') ? { WEIR_QUEUE_SHARDS: '1', ...env } : env,
    flags,
    engineFlags: flags,
  });
  return toServiceNodes(set);
}

export function toServiceNodes(set: ScaledSet): ServiceNodes {
  return {
    dataDir: set.stream.dataDir,
    env: { ...set.servers.env, WEIR_DATA: set.stream.dataDir },
    get process() {
      return joined(set);
    },
    launched: () => set.nodes.flatMap(({ launched }) => launched),
    enginePids: () => set.engine.children(),
    launch() {
      throw new Error('cannot launch a set without waiting: its nodes need each other');
    },
    async start() {
      await set.start();
      return set.quickstart;
    },
    kill: (signal) => killAll(set, signal),
    isRunning: () => set.nodes.some((node) => node.isRunning()),
    remove: () => set.close(),
  };
}

/** All processes as one: pid and output of the stream node, logs of all. */
function joined(set: ScaledSet): WeirProcess {
  const { process } = set.stream;
  return {
    ...process,
    get logs() {
      return set.nodes.flatMap(({ launched }) => launched).flatMap(({ logs }) => logs);
    },
    kill(signal) {
      for (const node of set.nodes) node.process.kill(signal);
    },
  };
}

/** The engine last: others insert until their end. */
async function killAll(set: ScaledSet, signal: NodeJS.Signals): Promise<Exit> {
  const running = set.nodes.filter((node) => node.isRunning());
  const others = running.filter((node) => node !== set.engine);
  const exits = await Promise.all(others.map((node) => node.kill(signal)));
  if (running.includes(set.engine)) exits.push(await set.engine.kill(signal));
  const usual: Exit = { code: 0, signal: null };
  return exits.find(({ code }) => code !== 0) ?? usual;
}
