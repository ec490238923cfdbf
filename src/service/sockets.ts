/** Opens the listeners of protocols that are not HTTP, as far as they are configured. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionGate } from '../admission/port.ts';
import type { Config } from '../config/schema.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import { chunkOf } from '../protocols/forward/entries.ts';
import { answerPing, encodeHelo } from '../protocols/forward/handshake.ts';
import { encode, MessageReader } from '../protocols/forward/msgpack.ts';
import { GelfDatagrams, GelfFrames, joinGelf } from '../protocols/json-logs/gelf/gelf-frames.ts';
import { joinFrames, SyslogFrames } from '../protocols/syslog/frames.ts';
import { tokenOf } from '../protocols/syslog/structured-data.ts';
import {
  type DatagramListenerOptions,
  openDatagramListener,
} from '../sockets/datagram-listener.ts';
import type { DeliveryParts } from '../sockets/deliver.ts';
import { PartialMessages } from '../sockets/partial-messages.ts';
import { createSenderReceivers, type ReceiverOfNames } from '../sockets/sender-receivers.ts';
import { type ForwardFormat, serveForward } from '../sockets/serve-forward.ts';
import { type Framing, serveFrames } from '../sockets/serve-frames.ts';
import {
  openStreamListener,
  type OpenSocket,
  type Peer,
  type SocketAddress,
  type TlsOptions,
  type TlsSource,
} from '../sockets/stream-listener.ts';
import { createSocketEvents } from '../telemetry/socket-events.ts';
import type { Gateway } from './gateway.ts';
import type { Opening } from './opening.ts';
import { createProtocols } from './protocols.ts';

export interface SocketParts extends Pick<Gateway, 'ingest' | 'ingestEvents'> {
  readonly certificate: TlsSource | undefined;
  readonly gate: ConnectionGate;
}

/** Messages in flight are stored within this time of a stop, or dropped. */
const closingGraceMs = 10_000;
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
  const partials = new PartialMessages(config.ingest.maxInFlightBytes / 4);
  const { signal } = stop;
  const delivery: DeliveryParts = { ingest, ingestEvents, events, partials, signal };
  const opened = parts.own(new OpenSockets(stop));
  const context = { ...server, config, delivery, opened };
  await openSyslog(context);
  await openForward(context);
  await openGelf(context);
  for (const [setting, port] of Object.entries(opened.ports)) {
    events.listening(setting, String(port));
  }
  return opened.ports;
}

class OpenSockets {
  readonly ports: Record<string, number> = {};
  readonly #sockets: OpenSocket[] = [];
  readonly #stop: AbortController;

  constructor(stop: AbortController) {
    this.#stop = stop;
  }

  add(setting: string, socket: OpenSocket): void {
    this.#sockets.push(socket);
    this.ports[setting] = socket.port;
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.#sockets.map((socket) => socket.close()));
    const done = new AbortController();
    const { signal } = done;
    void sleep(closingGraceMs, undefined, { signal }).then(
      () => this.#stop.abort(),
      () => undefined,
    );
    await closed;
    done.abort();
  }
}

interface SocketContext {
  readonly config: Config;
  readonly certificate: TlsSource | undefined;
  readonly gate: ConnectionGate;
  readonly delivery: DeliveryParts;
  readonly opened: OpenSockets;
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
  const framing: Framing = { open: () => new GelfFrames(maxMessageBytes), join: joinGelf };
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
    const options = { framing, delivery, receiverId, messageTimeoutMs, ...batch };
    return serveFrames(socket, closing, options, parts);
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

function noReceiver(section: string): AppError {
  return new AppError(
    'unauthenticated',
    `cannot find the receiver of a connection: set ${section}.receiver, or use client certificates`,
  );
}

interface Served {
  readonly listener: string;
  readonly socket: Socket;
  readonly peer: Peer;
  readonly receiverId: string | undefined;
  readonly closing: AbortSignal;
}

/** Opens `tcp` and `tls` of a section. */
async function openStreams(
  context: SocketContext,
  section: 'syslog' | 'forward' | 'gelf',
  serve: (served: Served) => Promise<void>,
): Promise<void> {
  const { config, gate, delivery, opened } = context;
  const receiverOf = createReceiverOf(config, config[section].receiver);
  for (const transport of ['tcp', 'tls'] as const) {
    const address = toAddress(config[section][transport]);
    if (address === undefined) continue;
    const setting = `${section}.${transport}`;
    const listener = `${section}_${transport}`;
    const tls = transport === 'tls' ? toTlsOptions(context) : undefined;
    const { maxConnections } = config.ingest;
    const options = { listener, setting, address, tls, maxConnections };
    const parts = { gate, events: delivery.events };
    const open = await openStreamListener(options, parts, async (socket, peer, closing) =>
      serve({ listener, socket, peer, receiverId: receiverOf(peer.names), closing }),
    );
    opened.add(setting, open);
  }
}

function createReceiverOf({ tls }: Config, fallback: string): ReceiverOfNames {
  const ofNames = createSenderReceivers(tls.clientReceivers);
  return (names) => ofNames(names) ?? (fallback === '' ? undefined : fallback);
}

function toTlsOptions({ config, certificate }: SocketContext): TlsOptions {
  if (certificate === undefined) throw new Error('a gateway has a certificate');
  const { clientCaFile } = config.tls;
  return {
    certificate,
    clientCa: clientCaFile === '' ? undefined : readFileSync(clientCaFile, 'utf8'),
    handshakeTimeoutMs: config.ingest.headersTimeoutMs,
  };
}

function protocolOf(config: Config, name: string): Protocol {
  const protocol = createProtocols(config).find((one) => one.name === name);
  if (protocol === undefined) throw new Error(`there is no protocol ${name}`);
  return protocol;
}

/** @param text a checked `host:port` or port; empty = off */
function toAddress(text: string): SocketAddress | undefined {
  if (text === '') return undefined;
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(colon, 0)).replaceAll(/[[\]]/g, '');
  return { host, port: Number(text.slice(colon + 1)) };
}
