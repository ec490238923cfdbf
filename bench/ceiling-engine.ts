/**
 * The embedded engine alone, with the same rows and the same statement: decoded beforehand, no TLS,
 * no queue, no other load.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StampedBatch } from '../src/model/batch.ts';
import { createJsonLogsDecoder } from '../src/protocols/json-logs/decode.ts';
import type { ClickHouseStore } from '../src/store/clickhouse.ts';
import { localToken } from '../test/store/local-token.ts';
import { openBenchEngine } from './bench-engine.ts';
import type { Ceiling } from './ceiling.ts';
import { type Body, stampBody } from './corpus.ts';
import { cpuSeconds } from './processes.ts';

/** Rows per insert of the drain under load. */
const rowsPerInsert = 250_000;

export async function measureEngineAlone(
  bodies: readonly Body[],
  seconds: number,
): Promise<Ceiling> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-bench-engine-'));
  const engine = await openBenchEngine(dataDir);
  try {
    return await insertFor(engine.store, engine.pid, await decodeAll(bodies), seconds);
  } finally {
    await engine.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function insertFor(
  store: ClickHouseStore,
  pid: number,
  payloads: readonly Payload[],
  seconds: number,
): Promise<Ceiling> {
  let sequence = 0n;
  let events = 0;
  let bytes = 0;
  const take = (): StampedBatch[] => {
    const batches: StampedBatch[] = [];
    for (let rows = 0; rows < rowsPerInsert; sequence++) {
      const payload = payloads[Number(sequence) % payloads.length];
      if (payload === undefined) throw new Error('cannot insert: there are no bodies');
      batches.push(toBatch(payload, sequence));
      rows += payload.rows;
      bytes += payload.bodyBytes;
      events += payload.rows;
    }
    return batches;
  };
  await store.insert('logs/1', take(), 'all', localToken);
  events = 0;
  bytes = 0;
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  while (performance.now() - startedAt < seconds * 1000) {
    await store.insert('logs/1', take(), 'all', localToken);
  }
  const took = (performance.now() - startedAt) / 1000;
  return {
    eventsPerSecond: events / took,
    megabytesPerSecond: bytes / took / 1e6,
    cpuMicrosPerEvent: ((cpuSeconds(pid) - cpuBefore) * 1e6) / events,
  };
}

interface Payload {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Bytes of the source JSON. */
  readonly bodyBytes: number;
}

async function decodeAll(bodies: readonly Body[]): Promise<Payload[]> {
  const decode = createJsonLogsDecoder();
  const payloads: Payload[] = [];
  for (const body of bodies) {
    stampBody(body, Date.now());
    const limits = { maxEvents: 10_000, maxDepth: 64, maxRejections: 100 };
    const { rows, payload } = await decode(body.bytes, limits);
    payloads.push({ rows, bytes: payload, bodyBytes: body.bytes.length });
  }
  return payloads;
}

function toBatch({ rows, bytes }: Payload, sequence: bigint): StampedBatch {
  return {
    id: { writer: 1n, sequence },
    receivedAtNanos: BigInt(Date.now()) * 1_000_000n + sequence,
    owner: {
      accountId: '3f6f0c1e-8a54-4c1b-9d0e-1f2a3b4c5d6e',
      streamId: 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70',
      receiverId: 'rcv_bench',
    },
    layout: 'logs/1',
    rows,
    payload: bytes,
  };
}
