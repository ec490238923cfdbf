/** The scaled-out set in the place of the one process that tests of the API start. */
import type { NodesOptions, ServiceNodes } from '../harness/service-nodes.ts';
import type { Exit, WeirProcess } from '../harness/weir-process.ts';
import { openScaledSet, type ScaledSet } from './scaled-set.ts';

/** Its servers run when this resolves, and none of its nodes. */
export async function openScaledNodes({
  flags = [],
  env = {},
}: NodesOptions): Promise<ServiceNodes> {
  const set = await openScaledSet({
    // A limit of the backlog is one for each shard, and tests that set one fill all there is.
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

/** The engine last, as whoever inserts needs it until its own end. */
async function killAll(set: ScaledSet, signal: NodeJS.Signals): Promise<Exit> {
  const running = set.nodes.filter((node) => node.isRunning());
  const others = running.filter((node) => node !== set.engine);
  const exits = await Promise.all(others.map((node) => node.kill(signal)));
  if (running.includes(set.engine)) exits.push(await set.engine.kill(signal));
  const usual: Exit = { code: 0, signal: null };
  return exits.find(({ code }) => code !== 0) ?? usual;
}
