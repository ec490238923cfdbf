/** Questions and answers over a connection. */
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { type Answers, type Channel, openChannel } from './channel.ts';

type Asked = {
  readonly double: { ask: number; answer: number };
  readonly measure: { ask: null; answer: number };
  readonly refuse: { ask: string; answer: void };
  readonly wait: { ask: null; answer: void };
};
type Nothing = Record<never, never>;

/** As two processes have them: what is written is copied. */
function openStreams(): [Duplex, Duplex] {
  const open = (other: () => Duplex) =>
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        other().push(Buffer.from(chunk));
        done();
      },
      destroy(error, done) {
        other().destroy();
        done(error);
      },
    });
  const near: Duplex = open(() => far);
  const far: Duplex = open(() => near);
  return [near, far];
}

function openPair(answers: Partial<Answers<Asked>>): [Channel<Asked>, Channel<Nothing>] {
  const [near, far] = openStreams();
  const all: Answers<Asked> = {
    double: (count) => 2 * count,
    measure: (_, tail) => tail.length,
    refuse: (why) => {
      throw new Error(why);
    },
    wait: () => new Promise(() => {}),
    ...answers,
  };
  return [openChannel<Nothing, Asked>(near, {}), openChannel<Asked, Nothing>(far, all)];
}

test('questions under way at once get their own answers', async () => {
  const [channel] = openPair({});
  const counts = Array.from({ length: 100 }, (_, index) => index);
  const answers = await Promise.all(counts.map((count) => channel.ask('double', count)));
  assert.deepEqual(
    answers,
    counts.map((count) => 2 * count),
  );
});

test('a tail goes along, and its memory is given back once it is sent', async () => {
  const [channel] = openPair({});
  const tail = new Uint8Array(1_000_000);
  assert.equal(await channel.ask('measure', null, tail), 1_000_000);
  assert.equal(tail.length, 0);
});

test('a refusal arrives as it was thrown', async () => {
  const rateLimit = { policy: 'p', state: 's' };
  const refusal = new AppError('quota_exceeded', 'cannot take more', {
    cause: new Error('deep down'),
    parameter: 'events',
    rateLimit,
    retryAfterSeconds: 3,
  });
  const refuse = () => Promise.reject(refusal);
  const [channel] = openPair({ refuse });
  const { code, message, parameter, retryAfterSeconds } = refusal;
  await assert.rejects(channel.ask('refuse', ''), (error) => {
    assert.ok(error instanceof AppError);
    assert.match(String(error.cause), /deep down/);
    assert.equal(error.message, message);
    assert.deepEqual(
      [error.code, error.parameter, error.retryAfterSeconds, error.rateLimit],
      [code, parameter, retryAfterSeconds, rateLimit],
    );
    return true;
  });
});

test('a bug of the other side is no refusal', async () => {
  const [channel] = openPair({});
  await assert.rejects(
    channel.ask('refuse', 'a slip'),
    (error) => error instanceof Error && !(error instanceof AppError) && /slip/.test(error.message),
  );
});

test('once the other side is gone, everything that waits is put off', async () => {
  const [channel, other] = openPair({});
  const waiting = channel.ask('wait', null);
  other.close();
  await channel.closed;
  const isPutOff = (error: unknown) => error instanceof AppError && error.kind.retryable;
  await assert.rejects(waiting, isPutOff);
  await assert.rejects(channel.ask('double', 1), isPutOff);
  channel.tell('double', 1);
});
