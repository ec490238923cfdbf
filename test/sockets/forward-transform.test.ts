/** A chunk of Fluent Forward that the transform of its receiver makes too large. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { decode, encode } from '@msgpack/msgpack';
import { createReceiver } from '../harness/control.ts';
import { until } from '../harness/until.ts';
import { connectTo, type SocketService, startSocketService } from './socket-service.ts';

const messageLength = 60_000;
const copies = 40;
/** Their copies take over 32 MiB. */
const messages = 20;

let sockets: SocketService;
before(async () => {
  sockets = await startSocketService(['--forward-tcp', '127.0.0.1:0']);
  const groups = Array.from({ length: copies }, (_, n) => `(?P<g${n}>`).join('');
  const transform = [{ type: 'extract', pattern: `${groups}.*${')'.repeat(copies)}` }];
  const { receiverId } = await createReceiver(sockets.service, { transform } as never);
  await sockets.restart(() => ['--forward-receiver', receiverId]);
});
after(() => sockets?.service.stop());

const dropped = async () =>
  (await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0;

test('it is dropped and counted once, acknowledged, and the next one is stored', async () => {
  const socket = await connectTo(sockets.port('forward.tcp'));
  const acknowledged = async (chunk: string, service: string, count: number) => {
    const record = { message: 'x'.repeat(messageLength), service };
    socket.write(encode(['app', Array(count).fill([0, record]), { chunk }]));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.deepEqual(decode(answer), { ack: chunk });
  };
  const listed = async (serviceName: string) =>
    (await sockets.service.list({ serviceName, limit: 1000 })).logs.length;
  await acknowledged('too large when transformed', 'enlarged', messages);
  assert.equal(await dropped(), 1);
  await acknowledged('small enough', 'kept', 2);
  await until(async () => (await listed('kept')) === 2, { what: 'the next chunk' });
  assert.equal(await listed('enlarged'), 0);
  assert.equal(await dropped(), 1);
  socket.destroy();
});
