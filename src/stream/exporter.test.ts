/** Limits, rechecks and outcomes of exports over a store that is a list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import type { LogRecord, WalkPlan, WalkPoint } from '../model/plan.ts';
import type { StreamedResponse } from '../model/read-route.ts';
import type { ExportOutcome } from '../telemetry/request-events.ts';
import { createExporter, type ExportRequest } from './exporter.ts';

const steps = 10;
const logsAStep = 7;

/** A store with ten steps of seven logs. */
function openExporter(options: { readonly recheckMs?: number } = {}) {
  const world = {
    running: 0,
    outcomes: [] as ExportOutcome[],
    plans: [] as WalkPlan[],
    rechecks: 0,
    fault: undefined as Error | undefined,
    streamIds: ['0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10'],
  };
  const exporter = createExporter(
    {
      store: {
        async walk(plan) {
          if (world.fault !== undefined) throw world.fault;
          world.plans.push(plan);
          const step = plan.from?.rows ?? 0;
          const count = Math.min(plan.limit, logsAStep);
          const logs = Array.from({ length: count }, (_, i) => ({
            message: `${step * logsAStep + i}`,
          }));
          const next = step + 1 < steps ? { rows: step + 1 } : undefined;
          return { logs: logs as LogRecord[], next: next as WalkPoint | undefined };
        },
      },
      grants: {
        streams: async (accountId) =>
          world.streamIds.map((streamId) => ({
            streamId,
            accountId,
            name: '',
            retentionDays: 1,
            downsampling: null,
            dataDeletedUntil: null,
            createdAt: '',
          })),
      },
      events: {
        began: () => void world.running++,
        logsExported() {},
        failed() {},
        ticketRestoreFailed() {},
        ended(outcome) {
          world.running -= 1;
          world.outcomes.push(outcome);
        },
      },
      now: () => Date.parse('2026-04-01T08:30:00.123Z'),
    },
    { maxExports: 4, recheckMs: 60_000, ...options },
  );
  const asked: ExportRequest = {
    accountId: 'acme',
    query: { format: 'ndjson' },
    recheck: async () => void world.rechecks++,
  };
  return { world, exporter, asked };
}

const { signal } = new AbortController();

async function messagesOf({ chunks }: StreamedResponse): Promise<string[]> {
  let text = '';
  for await (const chunk of chunks) text += String(chunk);
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as LogRecord).message);
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

test('exports all logs, and exactly as many as the limit', async () => {
  const { world, exporter, asked } = openExporter();
  assert.deepEqual(await messagesOf(await exporter.open(asked, signal)), upTo(70));
  for (const limit of [1, 7, 8, 69, 70, 71]) {
    const limited = { ...asked, query: { ...asked.query, limit } };
    const messages = await messagesOf(await exporter.open(limited, signal));
    assert.deepEqual(messages, upTo(Math.min(70, limit)));
  }
  assert.equal(world.running, 0);
  assert.ok(world.outcomes.every((outcome) => outcome === 'finished'));
});

test('names the file after the time', async () => {
  const { exporter, asked } = openExporter();
  const csv = await exporter.open({ ...asked, query: { format: 'csv' } }, signal);
  const disposition = 'attachment; filename="weir-logs-20260401T083000Z.csv"';
  assert.equal(csv.headers['content-disposition'], disposition);
  assert.equal(csv.mediaType, 'text/csv; charset=utf-8; header=present');
});

test('rejects a stream of another account before any read', async () => {
  const { world, exporter, asked } = openExporter();
  const other = { ...asked, query: { ...asked.query, streamId: ['other'] } };
  const isNotFound = (error: unknown) => error instanceof AppError && error.code === 'not_found';
  await assert.rejects(exporter.check(other), isNotFound);
  await assert.rejects(exporter.open(other, signal), isNotFound);
  assert.equal(world.plans.length, 0);
});

test('throws a failure midway', async () => {
  const { world, exporter, asked } = openExporter();
  const { chunks } = await exporter.open(asked, signal);
  await assert.rejects(async () => {
    for await (const chunk of chunks) {
      assert.ok(chunk.length > 0);
      world.fault = new AppError('unavailable', 'cannot reach the store');
    }
  }, /cannot reach the store/);
  assert.deepEqual([world.running, world.outcomes], [0, ['failed']]);
});

test('frees the place of an export that is aborted', async () => {
  const { world, exporter, asked } = openExporter();
  for await (const chunk of (await exporter.open(asked, signal)).chunks) {
    assert.equal(world.running, 1);
    assert.ok(chunk.length > 0);
    break;
  }
  const leaving = new AbortController();
  await assert.rejects(async () => {
    const { chunks } = await exporter.open(asked, leaving.signal);
    for await (const chunk of chunks) leaving.abort(chunk);
  });
  assert.deepEqual([world.running, world.outcomes], [0, ['left', 'left']]);
});

test('limits exports in progress; one without a reader does not count', async () => {
  const { world, exporter, asked } = openExporter();
  const open = async (by = asked) =>
    (await exporter.open(by, signal)).chunks[Symbol.asyncIterator]();
  const [first, second, third] = [await open(), await open(), await open()];
  await first.next();
  await second.next();
  await assert.rejects(third.next(), (error) => {
    assert.ok(error instanceof AppError && error.code === 'unavailable');
    assert.match(error.message, /the account has 2 of 4, .* raise stream\.maxExports/);
    return true;
  });
  const other = await open({ ...asked, accountId: 'another' });
  await other.next();
  await other.return?.();
  await first.return?.();
  await (await open()).next();
  assert.equal(world.running, 2);
});

test('rechecks token and retention during a long export', async () => {
  const { world, exporter, asked } = openExporter({ recheckMs: 0 });
  await messagesOf(await exporter.open(asked, signal));
  assert.equal(world.rechecks, steps);
  const refusing = { ...asked, recheck: () => Promise.reject(new AppError('forbidden', 'no')) };
  await assert.rejects(async () => messagesOf(await exporter.open(refusing, signal)), /no/);
  const { chunks } = await exporter.open(asked, signal);
  for await (const chunk of chunks) {
    if (chunk.length > 0) world.streamIds = [];
  }
  assert.deepEqual(world.plans.at(-1)!.filter.streams, []);
});
