/** A batch in pieces is acknowledged only if all of them are in one stream, in order. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { JetStreamApiError, type JetStreamPublishOptions } from '@nats-io/jetstream';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import { Assembler, type HeldBatch } from './assembler.ts';
import { createQueueNames, type NatsLink } from './connection.ts';
import { headers, readDelivery, toBatchName } from './messages.ts';
import { publishFrames } from './publish.ts';

interface Stored {
  readonly id: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

const id = { writer: 7n, sequence: 9n };
const name = toBatchName(id);

suite('publishing a batch', () => {
  for (const [what, payloadBytes] of [
    ['in one message', 100],
    ['in pieces', 2_000_000],
  ] as const) {
    test(`stores it once, ${what}`, async () => {
      const nats = new FakeNats();
      await send(nats, payloadBytes);
      assert.deepEqual(sizesOf(read(nats)), [payloadBytes]);
      assert.equal(nats.last.headers.get(headers.copies), '');
    });
  }

  test('retries on a new connection, and marks a possible duplicate', async () => {
    const nats = new FakeNats({ at: 3, loses: 'connection' });
    await send(nats, 2_000_000);
    assert.deepEqual(sizesOf(read(nats)), [2_000_000]);
    assert.equal(nats.last.id, name);
    assert.match(nats.last.headers.get(headers.copies), /^\d+$/);
  });

  test('tries again while a server stores an earlier attempt', async () => {
    const nats = new FakeNats({ at: 1, loses: 'nothing' });
    await send(nats, 100);
    assert.deepEqual(sizesOf(read(nats)), [100]);
    assert.match(nats.last.headers.get(headers.copies), /^\d+$/);
  });

  for (const at of [2, 4]) {
    test(`starts over if the stream lost messages before piece ${at}`, async () => {
      const nats = new FakeNats({ at, loses: 'messages' });
      await send(nats, 2_000_000);
      assert.deepEqual(sizesOf(read(nats)), [2_000_000]);
      assert.match(nats.last.headers.get(headers.copies), /^\d+$/);
    });
  }

  test('names an upload after the batch and uses the given message id', async () => {
    const nats = new FakeNats();
    await send(nats, 2_000_000, `${name}.again`);
    assert.equal(nats.last.id, `${name}.again`);
    for (const each of nats.stored) {
      assert.equal(each.headers.get(headers.upload).split('.')[0], name);
    }
    assert.equal(new Set(nats.stored.map((each) => each.id)).size, nats.stored.length);
  });
});

function send(nats: FakeNats, payloadBytes: number, messageId = name): Promise<void> {
  const batch = {
    id,
    receivedAtNanos: 1n,
    owner: { accountId: 'account', streamId: 'stream', receiverId: 'receiver' },
    layout: 'logs/1' as const,
    rows: 1,
    payload: Buffer.alloc(payloadBytes, 1),
  };
  const body = Buffer.alloc(measureFrame(batch));
  encodeFrame(body, 0, batch);
  finishFrame(body, 0, 0);
  const telemetry = { published: () => {}, publishFailed: () => {} } as unknown as NatsEvents;
  const frames = { shard: 3, body, id: messageId, sentMs: Date.now(), copiesSinceMs: undefined };
  return publishFrames(nats.link, telemetry, frames);
}

/** The batches that a reader gets. */
function read({ stored }: FakeNats): readonly HeldBatch[] {
  const assembler = new Assembler(0n);
  return stored.flatMap(({ data, headers: header }, index) => {
    const reply = `$JS.ACK.weir_3.consumer.1.${index + 1}.${index + 1}.1700000000000000000.0`;
    const delivery = readDelivery({ reply, data, headers: header } as unknown as Msg);
    return assembler.add({ ...delivery!, isSuspect: false }).batches;
  });
}

function sizesOf(batches: readonly HeldBatch[]): number[] {
  return batches.map(({ batch }) => batch.payload.length);
}

interface Loss {
  /** Sequence of the message at which the stream loses its earlier messages. */
  readonly at: number;
  readonly loses: 'connection' | 'messages' | 'nothing';
}

class FakeNats {
  stored: Stored[] = [];
  #lost = new AbortController();
  #calls = 0;
  readonly #loss: Loss | undefined;

  constructor(loss?: Loss) {
    this.#loss = loss;
  }

  get last(): Stored {
    return this.stored.at(-1)!;
  }

  get link(): NatsLink {
    return {
      connection: { info: { max_payload: 1_048_576 } },
      names: createQueueNames('weir'),
      js: {
        publish: async (_: string, data: Uint8Array, sent: Partial<JetStreamPublishOptions>) =>
          this.#publish(data, sent),
      },
      lost: () => this.#lost.signal,
      whenConnected: async () => {},
      settings: { timeoutMs: 1000 },
    } as unknown as NatsLink;
  }

  #publish(data: Uint8Array, { msgID = '', headers: header }: Partial<JetStreamPublishOptions>) {
    if (++this.#calls === this.#loss?.at) {
      if (this.#loss.loses === 'nothing') throw inProcess();
      this.stored = [];
      if (this.#loss.loses === 'connection') {
        this.#lost.abort();
        this.#lost = new AbortController();
        throw new Error('the connection was lost');
      }
    }
    const known = this.stored.findIndex((each) => each.id === msgID);
    if (known >= 0) return { stream: 'weir_3', seq: known + 1, duplicate: true };
    this.stored.push({ id: msgID, data, headers: header! });
    return { stream: 'weir_3', seq: this.stored.length, duplicate: false };
  }
}

/** As NATS 2.11 and later, in a cluster. */
function inProcess(): JetStreamApiError {
  const description = 'duplicate message id is in process';
  return new JetStreamApiError({ code: 409, err_code: 10158, description });
}
