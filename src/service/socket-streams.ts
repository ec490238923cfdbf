/** What the listeners of protocols that are not HTTP share: their streams, receivers and close. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionGate } from '../admission/port.ts';
import type { Config } from '../config/schema.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { DeliveryParts } from '../sockets/deliver.ts';
import {
  type OpenSocket,
  openStreamListener,
  type Peer,
  type SocketAddress,
  type TlsOptions,
  type TlsSource,
} from '../sockets/stream-listener.ts';
import { createProtocols } from './protocols.ts';
import { readAuthority } from './read-authority.ts';

/** Messages in flight are stored within this time of a stop, or dropped. */
const closingGraceMs = 10_000;

export interface SocketContext {
  readonly config: Config;
  readonly certificate: TlsSource | undefined;
  readonly gate: ConnectionGate;
  readonly delivery: DeliveryParts;
  readonly opened: OpenSockets;
}

export class OpenSockets {
  readonly ports: Record<string, number> = {};
  readonly #sockets: OpenSocket[] = [];
  readonly #afterwards: { close(): Promise<void> }[] = [];
  readonly #stop: AbortController;

  constructor(stop: AbortController) {
    this.#stop = stop;
  }

  add(setting: string, socket: OpenSocket): void {
    this.#sockets.push(socket);
    this.ports[setting] = socket.port;
  }

  /** Closes a part once all sockets are closed. */
  afterwards(part: { close(): Promise<void> }): void {
    this.#afterwards.push(part);
  }

  async close(): Promise<void> {
    const closed = this.#closeAll();
    const done = new AbortController();
    const { signal } = done;
    void sleep(closingGraceMs, undefined, { signal }).then(
      () => this.#stop.abort(),
      () => undefined,
    );
    await closed;
    done.abort();
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => socket.close()));
    await Promise.all(this.#afterwards.map((part) => part.close()));
  }
}

export function noReceiver(section: string): AppError {
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
export async function openStreams(
  context: SocketContext,
  section: 'syslog' | 'forward' | 'gelf' | 'statsd',
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

export function createReceiverOf({ tls }: Config, fallback: string): ReceiverOfNames {
  const ofNames = createSenderReceivers(tls.clientReceivers);
  return (names) => ofNames(names) ?? (fallback === '' ? undefined : fallback);
}

function toTlsOptions({ config, certificate }: SocketContext): TlsOptions {
  if (certificate === undefined) throw new Error('a gateway has a certificate');
  const { clientCaFile } = config.tls;
  return {
    certificate,
    clientCa: readAuthority('tls.clientCaFile', clientCaFile),
    handshakeTimeoutMs: config.ingest.headersTimeoutMs,
  };
}

export function protocolOf(config: Config, name: string): Protocol {
  const protocol = createProtocols(config).find((one) => one.name === name);
  if (protocol === undefined) throw new Error(`there is no protocol ${name}`);
  return protocol;
}

/** @param text a checked `host:port` or port; empty = off */
export function toAddress(text: string): SocketAddress | undefined {
  if (text === '') return undefined;
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(colon, 0)).replaceAll(/[[\]]/g, '');
  return { host, port: Number(text.slice(colon + 1)) };
}

const receiverId = /^rcv_\w+$/;
const entry = /^(.+)=(\w+)$/;

/** @returns the receiver of the first name that has one */
type ReceiverOfNames = (names: readonly string[]) => string | undefined;

/**
 * @param entries each `name=receiver`; a name that is a receiver's id needs none
 * @throws AppError `malformed` for another form
 */
function createSenderReceivers(entries: readonly string[]): ReceiverOfNames {
  const receivers = new Map(
    entries.map((text) => {
      const [, name, receiver] = entry.exec(text) ?? [];
      if (name === undefined || receiver === undefined) {
        const form = 'write name=receiver in tls.clientReceivers';
        throw new AppError('malformed', `cannot use ${JSON.stringify(text)}: ${form}`);
      }
      return [name.toLowerCase(), receiver] as const;
    }),
  );
  return (names) => {
    const known = names.find((name) => receivers.has(name.toLowerCase()));
    if (known !== undefined) return receivers.get(known.toLowerCase());
    return names.find((name) => receiverId.test(name));
  };
}
