/** What the main process answers a worker, and what it lets go of when one dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaims } from '../ingest/ingest-replay.ts';
import { AppError } from '../model/errors.ts';
import type { RememberedAnswer } from '../queue/port.ts';
import { createOwner, type OwnedParts } from './owner.ts';
import { type BatchAsk, toBytes, toText } from './questions.ts';

const key = toText(Buffer.alloc(16, 1));
const bodyDigest = toText(Buffer.alloc(16, 2));
const answer = toText(Buffer.from('first'));
const owner = { accountId: 'a', streamId: 's', receiverId: 'r' };
const batch: BatchAsk = { layout: 'logs/1', rows: 1, owner, record: null, forgotten: 0 };
const payload = Buffer.from('row');
const { accountId } = owner;

/** A queue whose appends become durable when they are told to. */
function createMachine() {
  const remembered = new Map<string, RememberedAnswer>();
  const appends: PromiseWithResolvers<void>[] = [];
  let forgotten = 0;
  const unused = () => assert.fail('nobody asks for this');
  const parts: OwnedParts = {
    queue: {
      async append(_content, _owner, record) {
        const durable = Promise.withResolvers<void>();
        appends.push(durable);
        await durable.promise;
        if (record !== undefined) remembered.set(toText(record.key), record);
        return {};
      },
    },
    claims: createClaims({ recall: async (asked) => remembered.get(toText(asked)) }),
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
    forgotten: () => forgotten,
  };
  return { parts, appends, forget: () => (forgotten += 1) };
}

test('a key that a worker holds is held for all others', async () => {
  const { parts } = createMachine();
  const [one, other] = [createOwner(parts), createOwner(parts)];
  assert.equal(await one.answers.claim({ accountId, key, bodyDigest }, payload), null);
  const second = other.answers.claim({ accountId, key, bodyDigest }, payload);
  await one.answers.settle(key, payload);
  assert.equal(await second, null);
});

test('who waits for a worker that died finds what it still made durable', async () => {
  const { parts, appends } = createMachine();
  const [dying, other] = [createOwner(parts), createOwner(parts)];
  await dying.answers.claim({ accountId, key, bodyDigest }, payload);
  const record = { key, bodyDigest, answer };
  const appended = dying.answers.append({ ...batch, record }, payload);
  const second = other.answers.claim({ accountId, key, bodyDigest }, payload);
  const released = dying.release();
  appends[0]?.resolve();
  assert.equal(await second, answer);
  await Promise.all([appended, released]);
});

test('a worker that died before it got its key does not hold it', async () => {
  const { parts } = createMachine();
  const [one, dying, other] = [createOwner(parts), createOwner(parts), createOwner(parts)];
  await one.answers.claim({ accountId, key, bodyDigest }, payload);
  const late = dying.answers.claim({ accountId, key, bodyDigest }, payload);
  await dying.release();
  await one.answers.settle(key, payload);
  await late;
  assert.equal(await other.answers.claim({ accountId, key, bodyDigest }, payload), null);
});

test('what counts on labels that are gone is to be sent again', async () => {
  const { parts, appends, forget } = createMachine();
  const { answers } = createOwner(parts);
  forget();
  const metrics = { ...batch, layout: 'metrics/1' } as const;
  await assert.rejects(
    Promise.resolve(answers.append(metrics, payload)),
    (error) => error instanceof AppError && error.code === 'unavailable',
  );
  const heard = answers.append({ ...metrics, forgotten: 1 }, payload);
  appends[0]?.resolve();
  assert.equal(await heard, null);
  assert.deepEqual(toBytes(answer).toString(), 'first');
});
