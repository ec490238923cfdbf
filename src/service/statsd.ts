/** Opens the listeners of StatsD, whose lines are added up before they are stored. */
import { DelimitedFrames } from '../codec/delimited-frames.ts';
import { Aggregation } from '../protocols/statsd/aggregation.ts';
import { openDatagramSocket } from '../sockets/datagram-listener.ts';
import { Aggregates } from '../sockets/flush-aggregates.ts';
import { serveFrames } from '../sockets/serve-frames.ts';
import {
  createReceiverOf,
  noReceiver,
  openStreams,
  protocolOf,
  type SocketContext,
  toAddress,
} from './socket-streams.ts';

const newline = 0x0a;
const maxLineBytes = 8 * 1024;

export async function openStatsd(context: SocketContext): Promise<void> {
  const { config, delivery: parts, opened } = context;
  const { tcp, tls, udp, receiver, flushMs, ...limits } = config.statsd;
  if (tcp === '' && tls === '' && udp === '') return;
  const aggregates = new Aggregates(
    {
      listener: 'statsd',
      protocol: protocolOf(config, 'prom_text'),
      flushMs,
      open: () => new Aggregation(limits),
    },
    parts,
  );
  opened.afterwards(aggregates);
  const framing = { open: () => new DelimitedFrames(maxLineBytes, newline) };
  const messageTimeoutMs = config.ingest.bodyTimeoutMs;
  await openStreams(context, 'statsd', ({ listener, socket, receiverId, closing }) => {
    if (receiverId === undefined) throw noReceiver('statsd');
    const store = (lines: readonly Buffer[]) => {
      for (const line of lines) {
        // A line that was cut must not pass for a shorter one.
        aggregates.add(receiverId, listener, line.length < maxLineBytes ? toLine(line) : '');
      }
    };
    return serveFrames(socket, closing, { listener, framing, messageTimeoutMs, store }, parts);
  });
  const address = toAddress(udp);
  if (address === undefined) return;
  const listener = 'statsd_udp';
  const setting = 'statsd.udp';
  const receiverId = createReceiverOf(config, receiver)([]);
  const socket = await openDatagramSocket(
    { listener, setting, address },
    parts.events,
    (datagram) => {
      if (receiverId === undefined) return parts.events.dropped(listener, 'unauthenticated', 1);
      for (const line of toLine(datagram).split('\n')) {
        if (line !== '') aggregates.add(receiverId, listener, line.trimEnd());
      }
    },
  );
  opened.add(setting, socket);
}

function toLine(bytes: Buffer): string {
  return bytes.toString('utf8').trimEnd();
}
