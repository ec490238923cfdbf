/** Reading a segment yields the same frames for any window size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFrame, finishFrame, measureFrame } from '../../src/queue/frame.ts';
import { FrameReader } from '../../src/queue/disk/frame-reader.ts';
import { Random } from './random.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const writer = 77n;
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

function frameOf(sequence: bigint, payload: Uint8Array): Buffer {
  const id = { writer, sequence };
  const batch = {
    id,
    receivedAtNanos: sequence,
    owner,
    layout: 'logs/1',
    rows: 1,
    payload,
  } as const;
  const frame = Buffer.alloc(measureFrame(batch));
  encodeFrame(frame, 0, batch);
  finishFrame(frame, 0, 0);
  return frame;
}

function readAll(content: Uint8Array, windowBytes: number): { sequences: bigint[]; gaps: number } {
  const fs = new SimulatedFileSystem(new Random(1));
  fs.makeDirectory('/d');
  fs.overwrite('/d/f', content);
  const file = fs.open('/d/f', 'read');
  const reader = new FrameReader(fs, file, { writer, start: 0, afterSequence: 0n, windowBytes });
  const sequences: bigint[] = [];
  for (let frame = reader.next(content.length); frame; frame = reader.next(content.length)) {
    sequences.push(frame.header.sequence);
    assert.deepEqual(
      frame.bytes,
      Buffer.from(content).subarray(frame.offset, frame.offset + frame.bytes.length),
    );
  }
  return { sequences, gaps: reader.takeGaps().length };
}

const pieces = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('frame' as const), size: fc.nat(200) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('rubbish' as const), size: fc.nat(150) }),
    },
  ),
  { maxLength: 12 },
);

test('finds frames after garbage, with any window size', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 400 }), (parts, windowBytes) => {
      let sequence = 0n;
      const expected: bigint[] = [];
      const content = Buffer.concat(
        parts.map(({ kind, size }) => {
          // Garbage with many frame magics.
          if (kind === 'rubbish') return Buffer.alloc(size, 'WFR1');
          expected.push(++sequence);
          return frameOf(sequence, new Uint8Array(size));
        }),
      );
      assert.deepEqual(readAll(content, windowBytes).sequences, expected);
    }),
  );
});

test('ignores a frame inside a damaged payload', () => {
  const forged = frameOf(9n, Buffer.from('forged'));
  const other = Buffer.from(forged);
  other.writeBigUInt64LE(writer + 1n, 56);
  finishFrame(other, 0, 0);
  const outer = frameOf(1n, other);
  outer[12] = 0;
  const content = Buffer.concat([outer, frameOf(2n, new Uint8Array(3))]);
  assert.deepEqual(readAll(content, 1000), { sequences: [2n], gaps: 1 });
});
