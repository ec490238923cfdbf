/** Opens the listeners of protocols that are not HTTP, as far as they are configured. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionGate } from '../admission/port.ts';
import type { Config } from '../config/schema.ts';
import type { Protocol } from '../model/protocol.ts';
import { joinFrames, SyslogFrames } from '../protocols/syslog/frames.ts';
import { tokenOf } from '../protocols/syslog/structured-data.ts';
import { openDatagramListener } from '../sockets/datagram-listener.ts';
import type { DeliveryParts } from '../sockets/deliver.ts';
import { createSenderReceivers, type ReceiverOfNames } from '../sockets/sender-receivers.ts';
import { type Framing, serveFrames } from '../sockets/serve-frames.ts';
import {
  openStreamListener,
  type OpenSocket,
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
  const delivery: DeliveryParts = { ingest, ingestEvents, events, signal: stop.signal };
  const opened = parts.own(new OpenSockets(stop));
  const context = { ...server, config, delivery, opened };
  await openSyslog(context);
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

interface FramedListeners {
  readonly section: 'syslog';
  readonly protocol: Protocol;
  readonly framing: Framing;
}

async function openSyslog(context: SocketContext): Promise<void> {
  const { syslog } = context.config;
  const framing: Framing = {
    open: () => new SyslogFrames(syslog.maxMessageBytes),
    join: joinFrames,
    tokenOf,
  };
  const protocol = protocolOf(context.config, 'syslog');
  await openFramed(context, { section: 'syslog', protocol, framing });
}

async function openFramed(
  context: SocketContext,
  { section, protocol, framing }: FramedListeners,
): Promise<void> {
  const { config, gate, delivery: parts, opened } = context;
  const { maxConnections, bodyTimeoutMs: messageTimeoutMs } = config.ingest;
  const settings = config[section];
  const receiverOf = createReceiverOf(config, settings.receiver);
  const max = Math.min(maxMessagesPerBatch, config.ingest.jsonMaxEvents);
  for (const transport of ['tcp', 'tls'] as const) {
    const address = toAddress(settings[transport]);
    if (address === undefined) continue;
    const setting = `${section}.${transport}`;
    const listener = `${section}_${transport}`;
    const tls = transport === 'tls' ? toTlsOptions(context) : undefined;
    const options = { listener, setting, address, tls, maxConnections };
    const socket = await openStreamListener(
      options,
      { gate, events: parts.events },
      (connection, { address: peerAddress, names }, closing) => {
        const delivery = { listener, protocol, peerAddress, waitsForQuota: true };
        const receiverId = receiverOf(names);
        return serveFrames(
          connection,
          closing,
          { framing, delivery, receiverId, messageTimeoutMs, maxMessagesPerBatch: max },
          parts,
        );
      },
    );
    opened.add(setting, socket);
  }
  const address = toAddress(settings.udp);
  if (address === undefined) return;
  const setting = `${section}.udp`;
  const listener = `${section}_udp`;
  const receiverId = receiverOf([]);
  const socket = await openDatagramListener(
    {
      listener,
      setting,
      address,
      framing,
      receiverId,
      delivery: { protocol },
      messageOf: (datagram) => datagram,
      maxMessagesPerBatch: max,
      maxBacklogBytes,
    },
    parts,
  );
  opened.add(setting, socket);
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
