/** The sets to compare, with their processes. */
import { Service, startService } from '../../test/harness/service.ts';
import { toServiceNodes } from '../../test/scaled/scaled-nodes.ts';
import { openScaledSet } from '../../test/scaled/scaled-set.ts';

export interface MeasuredSet {
  readonly name: string;
  readonly service: Service;
  /** Processes by kind; read again each time, since the engine may restart. */
  readonly processes: () => Readonly<Record<string, readonly number[]>>;
  stop(): Promise<void>;
}

/** One process and its engine. */
export async function openEmbedded(): Promise<MeasuredSet> {
  const service = await startService();
  return {
    name: 'embedded',
    service,
    processes: () => ({ weir: [service.process.pid], engine: service.enginePids() }),
    stop: () => service.stop(),
  };
}

/** Every part on a server, every role a process, on this machine. */
export async function openScaled(nodes: number, natsServers: 1 | 3): Promise<MeasuredSet> {
  const set = await openScaledSet({ gateways: nodes, writers: nodes, natsServers });
  const service = new Service(toServiceNodes(set), {});
  await service.start();
  const pidsOf = (some: readonly { readonly process: { readonly pid: number } }[]) =>
    some.map(({ process }) => process.pid);
  return {
    name: `scaled: ${nodes} + ${nodes}, ${natsServers} NATS`,
    service,
    processes: () => ({
      gateways: pidsOf(set.gateways),
      writers: pidsOf(set.writers),
      stream: pidsOf([set.stream]),
      nats: set.servers.nats.map(({ pid }) => pid),
      'its port': pidsOf([set.engine]),
      engine: set.engine.children(),
    }),
    stop: () => service.stop(),
  };
}
