/** Opens the listeners of protocols that are not HTTP, as far as they are configured. */
import type { ConnectionGate } from '../admission/port.ts';
import { DelimitedFrames } from '../codec/delimited-frames.ts';
import { chunkOf } from '../protocols/json-logs/forward/entries.ts';
import { answerPing, encodeHelo } from '../protocols/json-logs/forward/handshake.ts';
import { encode, MessageReader } from '../protocols/json-logs/forward/msgpack.ts';
import { GelfDatagrams, joinGelf } from '../protocols/json-logs/gelf/gelf-frames.ts';
import { joinFrames, SyslogFrames } from '../protocols/json-logs/syslog/frames.ts';
import { tokenOf } from '../protocols/json-logs/syslog/structured-data.ts';
import { Aggregation } from '../protocols/statsd/aggregation.ts';
import {
  type DatagramListenerOptions,
  openDatagramListener,
  openDatagramSocket,
} from '../sockets/datagram-listener.ts';
import type { DeliveryParts } from '../sockets/deliver.ts';
import { Aggregates } from '../sockets/flush-aggregates.ts';
import { HeldMemory } from '../sockets/held-bytes.ts';
import { type ForwardFormat, serveForward } from '../sockets/serve-forward.ts';
import { deliverBatches, type Framing, serveFrames } from '../sockets/serve-frames.ts';
import type { TlsSource } from '../sockets/stream-listener.ts';
import { createSocketEvents } from '../telemetry/socket-events.ts';
import type { Gateway } from './gateway.ts';
import type { Opening } from './opening.ts';
import {
  createReceiverOf,
  noReceiver,
  OpenSockets,
  openStreams,
  protocolOf,
  type SocketContext,
  toAddress,
} from './socket-streams.ts';

export interface SocketParts extends Pick<Gateway, 'ingest' | 'ingestEvents'> {
  readonly certificate: TlsSource | undefined;
  readonly gate: ConnectionGate;
}

const maxMessagesPerBatch = 5000;
const maxBacklogBytes = 32 * 1024 * 1024;

/**
 * @returns the bound ports by the name of their setting
 * @throws Error for the operator when a port cannot be bound
 */
export async function openSockets(
  { config, instruments, parts }: Opening,
  { ingest, ingestEvents, ...server }: SocketParts,
): Promise<Record<string, number>> {
  const events = createSocketEvents(instruments);
  const stop = new AbortController();
  const quarter = config.ingest.maxInFlightBytes / 4;
  const held = { partials: new HeldMemory(quarter), ahead: new HeldMemory(quarter) };
  const { signal } = stop;
  const delivery: DeliveryParts = { ingest, ingestEvents, events, ...held, signal };
  const opened = parts.own(new OpenSockets(stop));
  const context = { ...server, config, delivery, opened };
  await openSyslog(context);
  await openForward(context);
  await openGelf(context);
  await openStatsd(context);
  for (const [setting, port] of Object.entries(opened.ports)) {
    events.listening(setting, String(port));
  }
  return opened.ports;
}

async function openSyslog(context: SocketContext): Promise<void> {
  const { maxMessageBytes } = context.config.syslog;
  const framing: Framing = {
    open: () => new SyslogFrames(maxMessageBytes),
    join: joinFrames,
    tokenOf,
  };
  await openFramed(context, 'syslog', framing, (datagram) => datagram);
}

async function openGelf(context: SocketContext): Promise<void> {
  const { maxMessageBytes } = context.config.gelf;
  const framing: Framing = { open: () => new DelimitedFrames(maxMessageBytes, 0), join: joinGelf };
  const datagrams = new GelfDatagrams(
    maxMessageBytes,
    () => performance.now(),
    () => context.delivery.events.dropped('gelf_udp', 'incomplete', 1),
  );
  await openFramed(context, 'gelf', framing, (datagram, { address, port }) =>
    datagrams.add(datagram, `${address} ${port}`),
  );
}

/** Opens `tcp`, `tls` and `udp` of a section whose messages have no reply. */
async function openFramed(
  context: SocketContext,
  section: 'syslog' | 'gelf',
  framing: Framing,
  messageOf: DatagramListenerOptions['messageOf'],
): Promise<void> {
  const { config, delivery: parts, opened } = context;
  const { bodyTimeoutMs: messageTimeoutMs, jsonMaxEvents } = config.ingest;
  const protocol = protocolOf(config, section);
  const batch = { maxMessagesPerBatch: Math.min(maxMessagesPerBatch, jsonMaxEvents) };
  await openStreams(context, section, ({ listener, socket, peer, receiverId, closing }) => {
    const delivery = { listener, protocol, peerAddress: peer.address, waitsForQuota: true };
    const options = { delivery, receiverId, ...batch };
    const store = (messages: readonly Buffer[]) =>
      deliverBatches(parts, options, framing, messages);
    return serveFrames(socket, closing, { listener, framing, messageTimeoutMs, store }, parts);
  });
  const address = toAddress(config[section].udp);
  if (address === undefined) return;
  const setting = `${section}.udp`;
  const options: DatagramListenerOptions = {
    listener: `${section}_udp`,
    setting,
    address,
    framing,
    messageOf,
    receiverId: createReceiverOf(config, config[section].receiver)([]),
    delivery: { protocol },
    maxBacklogBytes,
    ...batch,
  };
  opened.add(setting, await openDatagramListener(options, parts));
}

async function openForward(context: SocketContext): Promise<void> {
  const { config, delivery: parts } = context;
  const { maxMessageBytes, sharedKey } = config.forward;
  const protocol = protocolOf(config, 'forward');
  const format: ForwardFormat = {
    open: () => new MessageReader(maxMessageBytes),
    encodeHelo,
    answerPing,
    chunkOf,
    encodeAck: (chunk) => encode({ ack: chunk }),
  };
  await openStreams(context, 'forward', ({ listener, socket, peer, receiverId, closing }) => {
    if (receiverId === undefined) throw noReceiver('forward');
    const delivery = {
      listener,
      protocol,
      binding: { receiverId },
      peerAddress: peer.address,
      waitsForQuota: true,
    };
    const messageTimeoutMs = config.ingest.bodyTimeoutMs;
    const options = { format, delivery, sharedKey: sharedKey || undefined, messageTimeoutMs };
    return serveForward(socket, closing, options, parts);
  });
}

const newline = 0x0a;
const maxLineBytes = 8 * 1024;

async function openStatsd(context: SocketContext): Promise<void> {
  const { config, delivery: parts, opened } = context;
  const { tcp, tls, udp, receiver, flushMs, ...limits } = config.statsd;
  if (tcp === '' && tls === '' && udp === '') return;
  const aggregates = new Aggregates(
    {
      listener: 'statsd',
      protocol: protocolOf(config, 'prom_text'),
      flushMs,
      open: () => new Aggregation({ ...limits, labels: config.metrics }),
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
        const isShort = line.length < maxLineBytes;
        if (line !== '') aggregates.add(receiverId, listener, isShort ? line.trimEnd() : '');
      }
    },
  );
  opened.add(setting, socket);
}

function toLine(bytes: Buffer): string {
  return bytes.toString('utf8').trimEnd();
}
