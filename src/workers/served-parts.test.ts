/** The parts served to a worker, and the release of its claims when it exits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaims } from '../ingest/ingest-replay.ts';
import { AppError } from '../model/errors.ts';
import type { RememberedAnswer } from '../queue/port.ts';
import type { WorkerBatch } from './methods.ts';
import { serveParts, type SharedParts } from './served-parts.ts';

const key = Buffer.alloc(16, 1);
const bodyDigest = Buffer.alloc(16, 2);
const answer = Buffer.from('first');
const owner = { accountId: 'a', streamId: 's', receiverId: 'r' };
const batch: WorkerBatch = {
  layout: 'logs/1',
  rows: 1,
  owner,
  idempotency: undefined,
  seriesEpoch: 0,
};
const payload = Buffer.from('row');
const { accountId } = owner;

/** Appends to this queue resolve when the test decides. */
function createMachine() {
  const remembered = new Map<string, RememberedAnswer>();
  const appends: PromiseWithResolvers<void>[] = [];
  let seriesEpoch = 0;
  const unused = () => assert.fail('not called');
  const parts: SharedParts = {
    queue: {
      async append(_content, _owner, record) {
        const durable = Promise.withResolvers<void>();
        appends.push(durable);
        await durable.promise;
        if (record !== undefined) remembered.set(nameOf(record.key), record);
        return {};
      },
    },
    claims: createClaims({ recall: async (asked) => remembered.get(nameOf(asked)) }),
    quota: { level: () => 0, take: () => true, giveBack() {} },
    directory: {
      findToken: unused,
      findReceiver: unused,
      listStreams: unused,
      noteTokensUsed: unused,
      addStatistics: unused,
      findStatistics: unused,
      pruneStatistics: unused,
    },
    missing: async () => [],
    seriesEpoch: () => seriesEpoch,
  };
  return { parts, appends, forget: () => (seriesEpoch += 1) };
}

function nameOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

test('a key claimed by one worker is claimed for all', async () => {
  const { parts } = createMachine();
  const [one, other] = [serveParts(parts), serveParts(parts)];
  assert.equal(await one.methods.claim(accountId, key, bodyDigest), undefined);
  const second = other.methods.claim(accountId, key, bodyDigest);
  await one.methods.settle(key);
  assert.equal(await second, undefined);
});

test('a retry finds the answer of another worker that exited while appending', async () => {
  const { parts, appends } = createMachine();
  const [exiting, other] = [serveParts(parts), serveParts(parts)];
  await exiting.methods.claim(accountId, key, bodyDigest);
  const idempotency = { key, bodyDigest, answer };
  const appended = exiting.methods.append({ ...batch, idempotency }, payload);
  const second = other.methods.claim(accountId, key, bodyDigest);
  const released = exiting.release();
  appends[0]?.resolve();
  assert.equal(await second, answer);
  await Promise.all([appended, released]);
});

test('releases the key of a worker that exits while it waits', async () => {
  const { parts } = createMachine();
  const [one, exiting, other] = [serveParts(parts), serveParts(parts), serveParts(parts)];
  await one.methods.claim(accountId, key, bodyDigest);
  const late = exiting.methods.claim(accountId, key, bodyDigest);
  await exiting.release();
  await one.methods.settle(key);
  await late;
  assert.equal(await other.methods.claim(accountId, key, bodyDigest), undefined);
});

test('rejects a batch that relies on labels deleted before', async () => {
  const { parts, appends, forget } = createMachine();
  const { methods } = serveParts(parts);
  forget();
  const metrics = { ...batch, layout: 'metrics/1' } as const;
  await assert.rejects(
    Promise.resolve(methods.append(metrics, payload)),
    (error) => error instanceof AppError && error.code === 'unavailable',
  );
  const accepted = methods.append({ ...metrics, seriesEpoch: 1 }, payload);
  appends[0]?.resolve();
  assert.deepEqual(await accepted, {});
});
