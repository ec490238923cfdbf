/** Requests of protocols without HTTP, each on a separate connection. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encode } from '@msgpack/msgpack';
import { lost, type Send, type Target } from './target.ts';

/** The same for all events: as with real senders, a retry repeats the bytes of its message. */
const eventSeconds = Math.floor(Date.now() / 1000);

/** A message that is sent again is recognised by its bytes. */
export const forward: Send = async (target, { request, names, key }) => {
  const chunk = `crash-chunk-${key ?? request}`;
  const entries = names.map((message) => [eventSeconds, { message }]);
  const socket = await open(target, 'forward.tcp');
  try {
    socket.write(encode(['crash', entries, { chunk }]));
    // `{ack: chunk}`
    let answer = Buffer.alloc(0);
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, bytes]);
      if (answer.includes(chunk)) return 'taken';
    }
    throw lost();
  } finally {
    socket.destroy();
  }
};

/** Nothing tells a sender what was stored. */
export const syslog: Send = async (target, { names }) => {
  const { token } = target.quickstart.receivers.http_json;
  const socket = await open(target, 'syslog.tcp');
  const closed = once(socket, 'close');
  const messages = names.map((name) => `<13>1 - - - - - [weir token="${token}"] ${name}`);
  socket.resume();
  socket.end(messages.map((text) => `${Buffer.byteLength(text)} ${text}`).join(''));
  await closed;
  return 'unknown';
};

async function open({ quickstart }: Target, setting: string): Promise<Socket> {
  const port = quickstart.sockets?.[setting];
  if (port === undefined) throw new Error(`${setting} has no port`);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
