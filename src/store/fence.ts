/**
 * Fences a shard: no earlier insert can take effect afterwards. An engine that only this process
 * uses is restarted. A shared store keeps the highest fence number of each shard, and every insert
 * carries the number of its holder, which the store compares.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FencingToken } from '../model/fencing-token.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { StoreInsertError } from './port.ts';
import {
  compileHighestFence,
  compileKillInserts,
  compileNodes,
  compileRaiseFence,
  compileSyncFences,
  compileSyncLogs,
  insertIdsOf,
  type InsertPass,
  type NodeRow,
} from './sql/fences.ts';
import type { Statement } from './sql/statement.ts';
import type { Placement } from './sql/tables.ts';

export interface Fence {
  /** Implements `Store.fence`. */
  fence(token: FencingToken): Promise<void>;
  /**
   * The fence number and query id of the next insert; undefined where no other process inserts.
   * The first insert of an epoch fences, to get a number.
   * @throws StoreInsertError `superseded`; any error of the store
   */
  pass(token: FencingToken): Promise<InsertPass | undefined>;
}

/** Where no other process inserts. Restarts only an engine that has received inserts. */
export function createRestartFence(restart: () => Promise<void>): Fence {
  let gotInserts = false;
  let restarting: Promise<void> | undefined;
  return {
    async fence() {
      if (gotInserts) {
        gotInserts = false;
        restarting = restart();
      }
      try {
        await restarting;
      } catch (error) {
        gotInserts = true;
        throw error;
      }
    },
    async pass() {
      gotInserts = true;
      return undefined;
    },
  };
}

export interface SharedFenceParts {
  readonly connection: Connection;
  readonly placement: Placement;
  /** Replicas of a cluster that must have a fence before it counts. */
  readonly insertQuorum: string;
  readonly events: Pick<StoreEvents, 'fenced'>;
}

interface Held {
  readonly epoch: bigint;
  readonly number: bigint;
  inserts: number;
}

/** Timeout of one fence; the caller retries. */
const timeoutMs = 90_000;
const killAgainMs = 50;
const epochBits = 64n;

export function createSharedFence(parts: SharedFenceParts): Fence {
  const { connection, placement, insertQuorum, events } = parts;
  const heldByShard = new Map<string, Held>();

  async function highest(shard: string, timeout: AbortSignal): Promise<bigint> {
    const [row] = await connection.query<[string]>(
      'housekeeping',
      compileHighestFence(placement, shard),
      timeout,
    );
    return BigInt(row?.[0] ?? 0);
  }

  async function fence({ shard, epoch }: FencingToken): Promise<Held> {
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    // After a failure half way the number is unusable.
    heldByShard.delete(shard);
    const before = await highest(shard, timeout);
    if (before >> epochBits > epoch) throw superseded(shard);
    const least = epoch << epochBits;
    const number = (before > least ? before : least) + 1n;
    await connection.execute(
      'housekeeping',
      compileRaiseFence(placement, { shard, number }, insertQuorum),
      timeout,
    );
    if (placement.cluster === undefined) await killInserts(shard, timeout);
    else await killOnNodes(shard, timeout);
    if ((await highest(shard, timeout)) > number) throw superseded(shard);
    const held = { epoch, number, inserts: 0 };
    heldByShard.set(shard, held);
    events.fenced(shard, (performance.now() - startedAt) / 1000);
    return held;
  }

  async function killInserts(shard: string, timeout: AbortSignal) {
    const kill = compileKillInserts(placement, shard);
    for (;;) {
      const killed = await connection.report<unknown[]>('housekeeping', kill, timeout);
      if (killed.length === 0) return;
      await delay(killAgainMs);
    }
  }

  /**
   * Kills twice, since an insert that one node forwarded may have begun on another meanwhile. The
   * syncs bring the fence, and all rows before it, to every node.
   */
  async function killOnNodes(shard: string, timeout: AbortSignal) {
    await onEveryNode(compileKillInserts(placement, shard), timeout);
    await onEveryNode(compileSyncFences(placement), timeout);
    await onEveryNode(compileKillInserts(placement, shard), timeout);
    await onEveryNode(compileSyncLogs(placement), timeout);
  }

  /**
   * Ignores an unresponsive node only once Keeper has expired its session, which makes its inserts
   * fail.
   */
  async function onEveryNode(statement: Statement, timeout: AbortSignal) {
    const rows = await connection.report<NodeRow>('housekeeping', statement, timeout);
    const unresponsive = rows.filter(([, , status]) => status === null);
    if (unresponsive.length === 0) return;
    const [nodes] = await connection.query<[number, number]>(
      'housekeeping',
      compileNodes(placement),
      timeout,
    );
    const [total, active] = nodes ?? [0, 0];
    if (unresponsive.length <= total - active) return;
    const hosts = unresponsive.map(([host, port]) => `${host}:${port}`).join(', ');
    throw new Error(`cannot fence: ${hosts} did not respond, and may still run inserts`);
  }

  return {
    fence: async (token) => void (await fence(token)),
    async pass(token) {
      const { shard, epoch } = token;
      const known = heldByShard.get(shard);
      const held = known?.epoch === epoch ? known : await fence(token);
      const number = held.number;
      const queryId = `${insertIdsOf(shard)}${number.toString(16)}/${held.inserts++}`;
      return { shard, number, queryId };
    },
  };
}

function superseded(shard: string): StoreInsertError {
  return new StoreInsertError('superseded', `cannot store: shard ${shard} has a later holder`);
}
