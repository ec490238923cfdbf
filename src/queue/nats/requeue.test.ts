/** What was set aside comes out of its shard again, also where the stream loses pieces of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JetStreamPublishOptions } from '@nats-io/jetstream';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import { Assembler, type HeldBatch } from './assembler.ts';
import type { NatsLink } from './connection.ts';
import { readDelivery } from './delivery.ts';
import { createQueueNames, headers } from './names.ts';
import { requeue } from './requeue.ts';

interface Published {
  readonly id: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

const id = { writer: 0x7n, sequence: 9n };

function makeFrame(payloadBytes: number): Buffer {
  const batch = {
    id,
    receivedAtNanos: 1n,
    owner: { accountId: 'account', streamId: 'stream', receiverId: 'receiver' },
    layout: 'logs/1' as const,
    rows: 1,
    payload: Buffer.alloc(payloadBytes, 1),
  };
  const frame = Buffer.alloc(measureFrame(batch));
  encodeFrame(frame, 0, batch);
  finishFrame(frame, 0, 0);
  return frame;
}

/** @returns what the stream holds then; it loses all that it had when message `losesAt` comes. */
async function send(frame: Buffer, losesAt?: number): Promise<Published[]> {
  let stored: Published[] = [];
  let calls = 0;
  const publish = async (_: string, data: Uint8Array, sent: Partial<JetStreamPublishOptions>) => {
    if (++calls === losesAt) stored = [];
    stored.push({ id: sent.msgID ?? '', data, headers: sent.headers! });
    return { stream: 'weir_3', seq: stored.length, duplicate: false };
  };
  const present = new AbortController().signal;
  const link = {
    connection: { info: { max_payload: 1_048_576 } },
    options: { timeoutMs: 1000 },
    names: createQueueNames('weir'),
    present: () => present,
    whenConnected: async () => {},
    js: { publish },
  } as unknown as NatsLink;
  const telemetry = { published: () => {}, publishFailed: () => {} } as unknown as NatsEvents;
  await requeue(link, telemetry, { frame, copiesSinceMs: 5, shard: 3 });
  return stored;
}

function read(stored: readonly Published[]): readonly HeldBatch[] {
  const assembler = new Assembler(0n);
  return stored.flatMap(({ data, headers: header }, index) => {
    const reply = `$JS.ACK.weir_3.consumer.1.${index + 1}.${index + 1}.1700000000000000000.0`;
    const delivery = readDelivery({ reply, data, headers: header } as unknown as Msg);
    return assembler.add({ ...delivery!, isSuspect: false }).batches;
  });
}

for (const [what, payloadBytes, losesAt] of [
  ['in one message', 100, undefined],
  ['in several', 2_000_000, undefined],
  ['in several, some of which the stream lost', 2_000_000, 3],
  ['in several, all but the last of which the stream lost', 2_000_000, 4],
] as const) {
  test(`it comes out once, ${what}`, async () => {
    const stored = await send(makeFrame(payloadBytes), losesAt);
    const batches = read(stored);
    assert.deepEqual(
      batches.map(({ batch, isSuspect }) => [batch.id, batch.payload.length, isSuspect]),
      [[id, payloadBytes, true]],
    );
  });
}

test('its ids are its own, and its upload is named after the batch', async () => {
  const name = '00000000000000070000000000000009';
  const [first, second] = [await send(makeFrame(2_000_000)), await send(makeFrame(2_000_000))];
  for (const { id: own, headers: header } of [...first, ...second]) {
    assert.notEqual(own, name);
    assert.equal(header.get(headers.upload).split('.')[0], name);
    assert.equal(header.get(headers.copies), '5000000');
  }
  const ids = [...first, ...second].map((each) => each.id);
  assert.equal(new Set(ids).size, ids.length);
});
