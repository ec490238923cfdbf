/** What happens between a node and the NATS that it shares a queue with. */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Instruments } from './instruments.ts';

export type NatsEvents = ReturnType<typeof createNatsEvents>;

export function createNatsEvents({ log, metrics }: Instruments) {
  const registers = [metrics];
  const connected = new Gauge({
    name: 'weir_queue_connected',
    help: 'Whether this node is connected to NATS',
    registers,
  });
  const seconds = new Histogram({
    name: 'weir_queue_publish_seconds',
    help: 'Time until JetStream acknowledged a message, repetitions included',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const failures = new Counter({
    name: 'weir_queue_publish_failures_total',
    help: 'Attempts to publish that JetStream did not acknowledge, by kind of failure',
    labelNames: ['kind'] as const,
    registers,
  });
  let isLost = false;
  let restoreFault = '';
  return {
    connectionMade(server: string): void {
      connected.set(1);
      log.info({ server }, isLost ? 'queue is connected to NATS again' : 'queue found NATS');
      isLost = false;
    },
    connectionLost(server: string): void {
      connected.set(0);
      log.error({ server }, 'queue lost its connection to NATS');
      isLost = true;
    },
    serverComplained(error: Error): void {
      log.warn({ err: error }, 'NATS refuses something that the queue asked for');
    },
    published(taken: number): void {
      seconds.observe(taken);
    },
    /** `kind` is one of a few. */
    publishFailed(kind: string): void {
      failures.inc({ kind });
    },
    shardFailed(event: {
      readonly shard: number;
      readonly kind: string;
      readonly reason: string;
    }): void {
      log.error(event, 'queue refuses what belongs into a shard until JetStream takes it again');
    },
    shardWorksAgain(event: { readonly shard: number }): void {
      log.info(event, 'queue takes what belongs into a shard again');
    },
    /** What is gone cannot be made anew; told once for each reason. */
    restoreFailed(error: unknown): void {
      const reason = String(error);
      if (reason !== restoreFault) log.error({ err: error }, 'queue cannot make anew what is gone');
      restoreFault = reason;
    },
    provisioned(event: { readonly what: string; readonly name: string }): void {
      log.info(event, 'queue made or changed what it needs at NATS');
    },
    notProvisionedYet(error: unknown): void {
      log.warn({ err: error }, 'JetStream is not ready; asking again');
    },
  };
}
