/** Batches from messages: each once, complete, with increasing times of receipt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StampedBatch } from '../../model/batch.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import { Assembler, type Assembled, type HeldBatch, storedSince } from './assembler.ts';
import type { QueuedMessage } from './messages.ts';

const minuteNanos = 60_000_000_000n;
const hourNanos = 60n * minuteNanos;

function makeFrame(sequence: number, payloadBytes = 8): Buffer {
  const batch: StampedBatch = {
    id: { writer: 7n, sequence: BigInt(sequence) },
    receivedAtNanos: 0n,
    owner: { accountId: 'account', streamId: 'stream', receiverId: 'receiver' },
    layout: 'logs/1',
    rows: 1,
    payload: Buffer.alloc(payloadBytes, sequence),
  };
  const frame = Buffer.alloc(measureFrame(batch));
  encodeFrame(frame, 0, batch);
  finishFrame(frame, 0, 0);
  return frame;
}

type Draft = Partial<QueuedMessage> & Pick<QueuedMessage, 'sequence'>;

function message(draft: Draft): QueuedMessage {
  const timeNanos = BigInt(draft.sequence) * 1000n;
  return { kind: 'frames', timeNanos, isSuspect: false, data: Buffer.alloc(0), ...draft };
}

function framesOf(sequence: number, ...frames: Buffer[]): QueuedMessage {
  return message({ sequence, data: Buffer.concat(frames) });
}

function chunkOf(sequence: number, index: number, pieces: readonly Buffer[], upload = 'u') {
  const chunk = { upload, index, count: pieces.length };
  return message({ sequence, kind: 'chunk', chunk, data: pieces[index]! });
}

function cut(frame: Buffer, count: number): Buffer[] {
  const size = Math.ceil(frame.length / count);
  return Array.from({ length: count }, (_, index) => {
    return frame.subarray(index * size, (index + 1) * size);
  });
}

function ids(batches: readonly HeldBatch[]): number[] {
  return batches.map(({ batch }) => Number(batch.id.sequence));
}

const nothing = { batches: [], damage: [], spent: [], droppedUploads: 0 };

test('decodes the frames of a message in order, with its time', () => {
  const assembler = new Assembler(0n);
  const { batches } = assembler.add(framesOf(5, makeFrame(1), makeFrame(2)));
  assert.deepEqual(ids(batches), [1, 2]);
  assert.deepEqual(
    batches.map(({ batch }) => batch.receivedAtNanos),
    [5000n, 5000n],
  );
  assert.deepEqual(new Uint8Array(batches[1]!.batch.payload), new Uint8Array(8).fill(2));
  assert.ok(batches.every(({ isSuspect, batch }) => !isSuspect && batch.copies === undefined));
});

test('finishes a message once all of its frames are finished', () => {
  const assembler = new Assembler(0n);
  const { batches } = assembler.add(framesOf(5, makeFrame(1), makeFrame(2)));
  assert.deepEqual(assembler.done(batches.slice(0, 1)), []);
  assert.deepEqual(assembler.done(batches.slice(1)), [5]);
});

test('finishes ticks and empty messages at once and advances the time', () => {
  const assembler = new Assembler(0n);
  assert.deepEqual(assembler.add(message({ sequence: 3, kind: 'tick' })).spent, [3]);
  assert.equal(assembler.lastNanos, 3000n);
  assert.deepEqual(assembler.add(message({ sequence: 4 })).spent, [4]);
});

test('keeps times of receipt increasing when the clock goes back', () => {
  const assembler = new Assembler(10_000n);
  const stamps = [9000n, 20_000n, 15_000n, 20_000n].map((timeNanos, index) => {
    const added = assembler.add({ ...framesOf(index, makeFrame(index)), timeNanos });
    return added.batches[0]!.batch.receivedAtNanos;
  });
  assert.deepEqual(stamps, [10_001n, 20_000n, 20_001n, 20_002n]);
});

test('joins interleaved chunks into a batch with the time of the last one', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 1000), 3);
  assert.deepEqual(assembler.add(chunkOf(1, 0, pieces)), nothing);
  assert.deepEqual(ids(assembler.add(framesOf(2, makeFrame(9))).batches), [9]);
  assert.deepEqual(assembler.add(chunkOf(3, 1, pieces)), nothing);
  const { batches } = assembler.add(chunkOf(4, 2, pieces));
  assert.equal(batches[0]?.batch.receivedAtNanos, 4000n);
  assert.equal(batches[0].batch.payload.length, 1000);
  assert.deepEqual(assembler.done(batches), [1, 3, 4]);
});

test('counts a repeated chunk once and acknowledges it twice', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 1000), 2);
  assembler.add(chunkOf(1, 0, pieces));
  assert.deepEqual(assembler.add(chunkOf(2, 0, pieces)), nothing);
  const { batches } = assembler.add(chunkOf(3, 1, pieces));
  assert.deepEqual(assembler.done(batches), [1, 2, 3]);
});

test('discards a chunk whose first chunk was finished before', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 1000), 3);
  assert.deepEqual(assembler.add(chunkOf(7, 2, pieces)), { ...nothing, spent: [7] });
  assembler.add(chunkOf(8, 0, pieces));
  assembler.add(chunkOf(9, 1, pieces));
  const { batches } = assembler.add(chunkOf(10, 2, pieces));
  assert.deepEqual(assembler.done(batches), [8, 9, 10]);
});

test('drops an incomplete upload a minute after its first chunk', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 1000), 3);
  assembler.add(chunkOf(1, 0, pieces));
  assembler.add(chunkOf(2, 1, pieces));
  const tick = (timeNanos: bigint) =>
    assembler.add(message({ sequence: 3, kind: 'tick', timeNanos }));
  assert.equal(tick(1000n + minuteNanos).droppedUploads, 0);
  const { spent, droppedUploads } = tick(1001n + minuteNanos);
  assert.deepEqual({ spent, droppedUploads }, { spent: [1, 2, 3], droppedUploads: 1 });
});

test('drops the chunks of other uploads once a batch is complete', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 1000), 3);
  const other = cut(makeFrame(2, 1000), 3);
  assembler.add(chunkOf(1, 0, pieces, 'b1.x'));
  assembler.add(chunkOf(2, 0, other, 'b2.x'));
  for (const index of [0, 1]) assembler.add(chunkOf(3 + index, index, pieces, 'b1.y'));
  const { batches, spent } = assembler.add(chunkOf(5, 2, pieces, 'b1.y'));
  assert.deepEqual([batches.length, spent], [1, [1]]);
  assert.deepEqual(assembler.add(chunkOf(6, 1, pieces, 'b1.x')).spent, [6]);
  assert.deepEqual(assembler.done(batches), [3, 4, 5]);
});

test('holds a repeated batch once and acknowledges all of its messages', () => {
  const assembler = new Assembler(0n);
  const { batches } = assembler.add(framesOf(1, makeFrame(1)));
  const copiesSinceNanos = 500n;
  assert.deepEqual(
    assembler.add({ ...framesOf(2, makeFrame(1), makeFrame(2)), copiesSinceNanos }).batches.length,
    1,
  );
  const pieces = cut(makeFrame(1), 2);
  assembler.add(chunkOf(3, 0, pieces));
  assert.deepEqual(assembler.add(chunkOf(4, 1, pieces)), nothing);
  assert.deepEqual(assembler.done(batches), [1, 3, 4]);
});

test('marks a republished batch as suspect since its first attempt', () => {
  const assembler = new Assembler(0n);
  const copiesSinceNanos = 5n * hourNanos;
  const timeNanos = 6n * hourNanos;
  const [held] = assembler.add({
    ...framesOf(1, makeFrame(1)),
    timeNanos,
    copiesSinceNanos,
  }).batches;
  assert.equal(held?.isSuspect, true);
  assert.deepEqual(held.batch.copies, {
    fromNanos: 4n * hourNanos,
    untilNanos: 7n * hourNanos,
  });
});

test('looks up what an earlier holder may have stored, an hour to both sides', () => {
  const assembler = new Assembler(0n);
  const pieces = cut(makeFrame(1, 100), 2);
  const first = chunkOf(1, 0, pieces);
  assembler.add({ ...first, timeNanos: 3n * hourNanos, isSuspect: true });
  const last = { ...chunkOf(2, 1, pieces), timeNanos: 3n * hourNanos + 5n };
  const [held] = assembler.add(last).batches;
  assert.equal(held?.isSuspect, true);
  assert.deepEqual(held.batch.copies, {
    fromNanos: 2n * hourNanos,
    untilNanos: 4n * hourNanos + 5n,
  });
});

test('looks up a batch of a restored stream at its earlier time of receipt', () => {
  const assembler = new Assembler(90n * hourNanos);
  const old = { ...framesOf(1, makeFrame(1)), timeNanos: 3n * hourNanos, isSuspect: true };
  const [held] = assembler.add(old).batches;
  assert.equal(held?.batch.receivedAtNanos, 90n * hourNanos + 1n);
  assert.deepEqual(held.batch.copies, {
    fromNanos: 2n * hourNanos,
    untilNanos: 91n * hourNanos + 1n,
  });
});

const damaged: readonly (readonly [string, (frame: Buffer) => QueuedMessage, RegExp])[] = [
  [
    'a flipped bit',
    (frame) => {
      frame[frame.length - 1]! ^= 1;
      return framesOf(1, frame);
    },
    /checksum/,
  ],
  ['no frame at all', () => framesOf(1, Buffer.from('hello')), /not a frame/],
  ['half a frame', (frame) => framesOf(1, frame.subarray(0, 80)), /checksum/],
  ['an unknown kind', (frame) => message({ sequence: 1, kind: 'new', data: frame }), /"new"/],
  ['a chunk without number', (data) => message({ sequence: 1, kind: 'chunk', data }), /number/],
  ['a chunk beyond the last', (frame) => chunkBeyond(frame), /number/],
  ['a frame and a bit as chunk', (frame) => chunkOf(1, 0, [concat(frame, frame)]), /single/],
];

function chunkBeyond(data: Buffer): QueuedMessage {
  return message({
    sequence: 1,
    kind: 'chunk',
    chunk: { upload: 'u', index: 3, count: 3 },
    data,
  });
}

function concat(...buffers: Buffer[]): Buffer {
  return Buffer.concat(buffers);
}

for (const [what, make, reason] of damaged) {
  test(`${what} is acknowledged only once it is in quarantine`, () => {
    const assembler = new Assembler(0n);
    const { batches, damage, spent } = assembler.add(make(makeFrame(1)));
    assert.deepEqual({ batches, spent }, { batches: [], spent: [] });
    assert.match(damage[0]!.reason, reason);
    assert.ok(damage[0]!.bytes.length > 0);
    assert.deepEqual(assembler.done(damage), [1]);
  });
}

test('decodes the frames around a damaged one', () => {
  const assembler = new Assembler(0n);
  const bad = makeFrame(2);
  bad[bad.length - 1]! ^= 1;
  const { batches, damage } = assembler.add(framesOf(1, makeFrame(1), bad, makeFrame(3)));
  assert.deepEqual(ids(batches), [1, 3]);
  assert.deepEqual(damage[0]!.bytes, bad);
  assert.deepEqual(assembler.done([...batches, ...damage]), [1]);
});

/** How batches are sent: several frames per message, or in chunks, some repeated. */
interface Step {
  readonly batch: number;
  readonly pieces: number;
  readonly isTwice: boolean;
  readonly payloadBytes: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    batch: fc.nat(20),
    pieces: fc.integer({ min: 1, max: 4 }),
    isTwice: fc.boolean(),
    payloadBytes: fc.nat(300),
  }),
  { maxLength: 30 },
);

/** Interleaves the messages of all steps; each step keeps its order. */
function toMessages(drafts: readonly Step[], order: readonly number[]): QueuedMessage[] {
  const lanes = drafts.map((step, lane) => {
    const frame = makeFrame(step.batch, step.payloadBytes);
    const drafted: Omit<QueuedMessage, 'sequence' | 'timeNanos'>[] =
      step.pieces === 1
        ? [{ kind: 'frames', data: frame, isSuspect: false }]
        : cut(frame, step.pieces).map((data, index) => {
            const chunk = { upload: `u${lane}`, index, count: step.pieces };
            return { kind: 'chunk', chunk, data, isSuspect: false };
          });
    return step.isTwice && step.pieces > 1 ? [drafted[0]!, ...drafted] : drafted;
  });
  const messages: QueuedMessage[] = [];
  for (let turn = 0; lanes.some((lane) => lane.length > 0); turn++) {
    const open = lanes.filter((lane) => lane.length > 0);
    const lane = open[(order[turn % order.length] ?? 0) % open.length]!;
    const sequence = messages.length + 1;
    messages.push({ ...lane.shift()!, sequence, timeNanos: BigInt(sequence) });
  }
  return messages;
}

test('yields each batch once, acknowledges each message once, never decreases times', () => {
  const order = fc.array(fc.nat(30), { minLength: 1 });
  fc.assert(
    fc.property(steps, order, (drafts, turns) => {
      const messages = toMessages(drafts, turns);
      const assembler = new Assembler(0n);
      const held: HeldBatch[] = [];
      const spent: number[] = [];
      for (const each of messages) {
        const added: Assembled = assembler.add(each);
        assert.deepEqual(added.damage, []);
        held.push(...added.batches);
        spent.push(...added.spent);
      }
      const sent = new Set(drafts.map(({ batch }) => batch));
      assert.deepEqual(ids(held).sort(byNumber), [...sent].sort(byNumber));
      const stamps = held.map(({ batch }) => batch.receivedAtNanos);
      assert.ok(stamps.every((stamp, index) => index === 0 || stamp >= stamps[index - 1]!));
      for (const each of held) spent.push(...assembler.done([each]));
      assert.deepEqual(
        spent.sort(byNumber),
        messages.map(({ sequence }) => sequence),
      );
    }),
  );
});

function byNumber(a: number, b: number): number {
  return a - b;
}

test('treats a batch that returns from quarantine as another, suspect batch', () => {
  const assembler = new Assembler(0n);
  const [first] = assembler.add({
    ...framesOf(1, makeFrame(1)),
    timeNanos: 3n * hourNanos,
  }).batches;
  assembler.quarantined(first!.batch);
  const later = { ...framesOf(2, makeFrame(1)), timeNanos: 9n * hourNanos };
  const [again] = assembler.add(later).batches;
  assert.equal(again?.isSuspect, true);
  assert.equal(again.batch.copies?.fromNanos, 2n * hourNanos);
  assert.deepEqual(assembler.done([first!]), [1]);
  assert.deepEqual(
    assembler.add(framesOf(3, makeFrame(1))).batches,
    [],
    'the second message must wait',
  );
  assert.deepEqual(assembler.done([again]), [2, 3]);
});

test('does not mark another held batch with the same id as quarantined', () => {
  const assembler = new Assembler(0n);
  const [first] = assembler.add(framesOf(1, makeFrame(1))).batches;
  assembler.quarantined(first!.batch);
  const [again] = assembler.add(framesOf(2, makeFrame(1))).batches;
  assembler.quarantined(first!.batch);
  assert.deepEqual(assembler.add(framesOf(3, makeFrame(1))).batches, []);
  assert.deepEqual(assembler.done([again!]), [2, 3]);
});

test('keeps the first time of a batch that is quarantined repeatedly', () => {
  const assembler = new Assembler(0n);
  let copiesSinceNanos: bigint | undefined;
  for (let round = 0; round < 5; round++) {
    const timeNanos = BigInt(round + 3) * hourNanos;
    const [held] = assembler.add({
      ...framesOf(round, makeFrame(1)),
      timeNanos,
      copiesSinceNanos,
    }).batches;
    assembler.quarantined(held!.batch);
    copiesSinceNanos = storedSince(held!.batch);
    assert.equal(copiesSinceNanos, 3n * hourNanos);
    assembler.done([held!]);
  }
});
