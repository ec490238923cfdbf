/** A batch in pieces is acknowledged only where all of them are in one stream, in their order. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JetStreamPublishOptions } from '@nats-io/jetstream';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { headers } from './names.ts';
import { upload } from './upload.ts';

suite('an upload', () => {
  test('begins anew over a new connection, and says that there may be a copy', async () => {
    const nats = new FakeNats(3, 'connection');
    await send(nats);
    assert.deepEqual(nats.whole(), ['0/5', '1/5', '2/5', '3/5', '4/5']);
    assert.equal(nats.last().id, 'batch');
    assert.match(nats.last().copies, /^\d+$/);
  });

  for (const at of [2, 5]) {
    test(`begins anew where the stream lost what it had before piece ${at}`, async () => {
      const nats = new FakeNats(at, 'messages');
      await send(nats);
      assert.deepEqual(nats.whole(), ['0/5', '1/5', '2/5', '3/5', '4/5']);
      // Of the first attempt, NATS may have the last piece alone: its id tells nothing.
      assert.notEqual(nats.last().id, 'batch');
      assert.match(nats.last().copies, /^\d+$/);
    });
  }

  test('is one attempt where nothing happens', async () => {
    const nats = new FakeNats(Number.POSITIVE_INFINITY, 'messages');
    await send(nats);
    assert.equal(nats.stored.length, 5);
    assert.equal(nats.last().copies, '');
  });
});

function send(nats: FakeNats): Promise<void> {
  const telemetry = { published: () => {}, publishFailed: () => {} } as unknown as NatsEvents;
  const target = { subject: 'weir.queue.0', stream: 'weir_0', pieceBytes: 10 };
  const frame = Buffer.alloc(50, 1);
  const sent = { frame, id: 'batch', sentMs: 1, copiesSinceMs: undefined };
  return upload(nats.link, telemetry, target, sent);
}

interface Stored {
  readonly id: string;
  readonly upload: string;
  readonly chunk: string;
  readonly copies: string;
}

/** Loses, once, all that it had when a piece comes. */
class FakeNats {
  stored: Stored[] = [];
  #present = new AbortController();
  #calls = 0;
  readonly #losesAt: number;
  readonly #loses: 'connection' | 'messages';

  constructor(losesAt: number, loses: 'connection' | 'messages') {
    this.#losesAt = losesAt;
    this.#loses = loses;
  }

  get link(): NatsLink {
    return {
      js: {
        publish: async (_: string, __: Uint8Array, options: Partial<JetStreamPublishOptions>) =>
          this.#publish(options),
      },
      present: () => this.#present.signal,
      whenConnected: async () => {},
      isConnected: () => true,
      options: { timeoutMs: 1000 },
    } as unknown as NatsLink;
  }

  last(): Stored {
    return this.stored.at(-1)!;
  }

  /** Pieces of the last upload. */
  whole(): string[] {
    const { upload: name } = this.last();
    return this.stored.filter((each) => each.upload === name).map(({ chunk }) => chunk);
  }

  #publish({ msgID = '', headers: head }: Partial<JetStreamPublishOptions>) {
    this.#calls++;
    if (this.#calls === this.#losesAt) {
      this.stored = [];
      if (this.#loses === 'connection') {
        this.#present.abort();
        this.#present = new AbortController();
        throw new Error('the connection was lost');
      }
    }
    const text = (name: string) => head?.get(name) ?? '';
    this.stored.push({
      id: msgID,
      upload: text(headers.upload),
      chunk: text(headers.chunk),
      copies: text(headers.copies),
    });
    return { stream: 'weir_0', seq: this.stored.length, duplicate: false };
  }
}
