/**
 * A fake store shared by several writer processes: inserts take time and may outlive their sender,
 * and violations of fencing are recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { Random } from '../queue/random.ts';

/** As sent between processes; times and epochs are decimal. */
export interface SentBatch {
  /** Unique in the test. */
  readonly text: string;
  readonly receivedAt: string;
  readonly copies: { readonly from: string; readonly until: string } | undefined;
}

export function toSent({ payload, receivedAtNanos, copies }: StampedBatch): SentBatch {
  return {
    text: Buffer.from(payload.subarray(0, 100)).toString().replace(/\0+$/, ''),
    receivedAt: receivedAtNanos.toString(),
    copies: copies && { from: `${copies.fromNanos}`, until: `${copies.untilNanos}` },
  };
}

export interface SentInsert {
  readonly shard: string;
  readonly epoch: string;
  readonly mode: 'all' | 'missing';
  readonly batches: readonly SentBatch[];
}

export type Verdict = 'done' | 'superseded';

interface Row {
  readonly receivedAt: bigint;
  count: number;
}

export class JudgingStore {
  readonly rows = new Map<string, Row>();
  readonly epochs = new Map<string, bigint>();
  superseded = 0;
  missing = 0;
  /** Violations. */
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #maxDelayMs: number;
  readonly #running = new Map<string, Set<Promise<void>>>();

  constructor(random: Random, maxDelayMs = 40) {
    this.#random = random;
    this.#maxDelayMs = maxDelayMs;
  }

  async insert(insert: SentInsert): Promise<Verdict> {
    const { shard, epoch } = insert;
    if (!this.#admit(shard, BigInt(epoch))) return 'superseded';
    const running = this.#running.get(shard) ?? new Set();
    this.#running.set(shard, running);
    // An admitted insert lands, even if a later epoch has begun: only a fence waits.
    const landing = sleep(this.#random.below(this.#maxDelayMs)).then(() => this.#land(insert));
    running.add(landing);
    await landing;
    running.delete(landing);
    return 'done';
  }

  async fence(shard: string, epoch: string): Promise<Verdict> {
    if (!this.#admit(shard, BigInt(epoch))) return 'superseded';
    const running = this.#running.get(shard);
    if (running !== undefined) await Promise.all(running);
    return 'done';
  }

  countOf(text: string): number {
    return this.rows.get(text)?.count ?? 0;
  }

  #admit(shard: string, epoch: bigint): boolean {
    const highest = this.epochs.get(shard) ?? 0n;
    if (epoch < highest) {
      this.superseded++;
      return false;
    }
    this.epochs.set(shard, epoch);
    return true;
  }

  #land({ batches, mode }: SentInsert): void {
    for (const batch of batches) {
      const row = this.rows.get(batch.text);
      const receivedAt = BigInt(batch.receivedAt);
      if (mode === 'missing') this.missing++;
      if (row === undefined) this.rows.set(batch.text, { receivedAt, count: 1 });
      else if (mode === 'all' || !isFound(row, batch)) {
        row.count++;
        this.faults.push(`${batch.text} was stored again (${mode})`);
      }
    }
  }
}

/** Whether a look-up of missing rows would find this one. */
function isFound({ receivedAt }: Row, batch: SentBatch): boolean {
  const { copies } = batch;
  if (copies === undefined) return receivedAt === BigInt(batch.receivedAt);
  return BigInt(copies.from) <= receivedAt && receivedAt <= BigInt(copies.until);
}
