/** Parses deliveries of several server versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headers as createHeaders, type Msg } from '@nats-io/transport-node';
import { readDelivery } from './messages.ts';

function deliver(reply: string, head: Record<string, string> = {}): Msg {
  const headers = createHeaders();
  for (const [name, value] of Object.entries(head)) headers.set(name, value);
  return { reply, headers, data: Buffer.from('body') } as Partial<Msg> as Msg;
}

const short = '$JS.ACK.weir_0.e5_1.1.42.7.1795233889752720958.3';
const long = '$JS.ACK._.HASH.weir_0.e5_1.2.42.7.1795233889752720958.3.RANDOM';

for (const [reply, isRepeated] of [
  [short, false],
  [long, true],
] as const) {
  test(`reads ${reply.split('.').length} tokens`, () => {
    const { data, ...delivery } = readDelivery(deliver(reply, { 'Weir-Kind': 'tick' }))!;
    assert.equal(data.toString(), 'body');
    assert.deepEqual(delivery, {
      reply,
      sequence: 42,
      consumerSequence: 7,
      timeNanos: 1_795_233_889_752_720_958n,
      isRepeated,
      kind: 'tick',
      chunk: undefined,
      copiesSinceNanos: undefined,
    });
  });
}

test('reads the headers of a chunk', () => {
  const head = {
    'Weir-Kind': 'chunk',
    'Weir-Upload': 'abc',
    'Weir-Chunk': '2/5',
    'Weir-Copies-Since': '1795233889000000000',
  };
  const delivery = readDelivery(deliver(short, head));
  assert.deepEqual(delivery?.chunk, { upload: 'abc', index: 2, count: 5 });
  assert.equal(delivery.copiesSinceNanos, 1_795_233_889_000_000_000n);
});

test('marks a message that arrives long after it was sent', () => {
  const sentMs = (late: number) => ({ 'Weir-Sent': `${1_795_233_889_752 - late}` });
  assert.equal(readDelivery(deliver(short, sentMs(29_000)))?.copiesSinceNanos, undefined);
  assert.equal(readDelivery(deliver(short, sentMs(-500_000)))?.copiesSinceNanos, undefined);
  const late = readDelivery(deliver(short, sentMs(31_000)));
  assert.equal(late?.copiesSinceNanos, 1_795_233_858_752_000_000n);
  const told = { ...sentMs(31_000), 'Weir-Copies-Since': '5' };
  assert.equal(readDelivery(deliver(short, told))?.copiesSinceNanos, 5n);
});

test('ignores messages that are not from a stream', () => {
  for (const reply of ['', '_INBOX.a.b', '$JS.ACK.weir_0']) {
    assert.equal(readDelivery(deliver(reply)), undefined, reply);
  }
});
