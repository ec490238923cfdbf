/** The service as a single process. */
import type { Quickstart } from './quickstart.ts';
import type { NodesOptions, ServiceNodes } from './service-nodes.ts';
import { WeirNode } from './weir-node.ts';
import { enginesOf } from './weir-process.ts';

export function openSingleNode(
  { flags = [], env, arePortsKept }: NodesOptions,
  dataDir: string,
): ServiceNodes {
  const toFlags = (before: Quickstart | undefined) => [
    ...portFlags(arePortsKept === true ? before : undefined),
    ...flags,
  ];
  const node = new WeirNode<Quickstart>(dataDir, toFlags, env);
  return {
    dataDir,
    env: {},
    get process() {
      return node.process;
    },
    launched: () => node.launched,
    enginePids: () => enginesOf(node.process.pid),
    launch: () => node.launch(),
    start: () => node.start(),
    kill: (signal) => node.kill(signal),
    isRunning: () => node.isRunning(),
    remove: () => node.remove(),
  };
}

function portFlags(kept: Quickstart | undefined): string[] {
  const portOf = (url: string | undefined) => (url === undefined ? '0' : new URL(url).port);
  const ports = {
    '--ingest-port': portOf(kept?.ingestUrl),
    '--stream-port': portOf(kept?.streamUrl),
    '--ops-port': portOf(kept?.opsUrl),
  };
  return Object.entries(ports).flat();
}
