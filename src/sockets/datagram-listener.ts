/**
 * A UDP port whose datagrams are messages. They are stored in batches for each sender; those that
 * arrive faster than they can be stored are dropped and counted.
 */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Binding,
  countRefused,
  deliver,
  type Delivery,
  type DeliveryParts,
} from './deliver.ts';
import type { SocketEvents } from '../telemetry/socket-events.ts';
import { bindingOf, type Framing } from './serve-frames.ts';
import { watchKernelDrops } from './kernel-drops.ts';
import { cannotListen, type OpenSocket, type StreamListenerOptions } from './stream-listener.ts';

type DatagramSocketOptions = Pick<StreamListenerOptions, 'address' | 'listener' | 'setting'>;

export interface DatagramListenerOptions extends DatagramSocketOptions {
  /** @returns the message that a datagram completes */
  readonly messageOf: (datagram: Buffer, sender: RemoteInfo) => Buffer | undefined;
  readonly framing: Pick<Framing, 'join' | 'tokenOf'>;
  readonly delivery: Pick<Delivery, 'protocol'>;
  readonly receiverId: string | undefined;
  readonly maxMessagesPerBatch: number;
  /** Of messages that are not stored yet. */
  readonly maxBacklogBytes: number;
}

interface Group {
  readonly binding: Binding;
  readonly peerAddress: string;
  readonly messages: Buffer[];
}

/** Cost of a message besides its bytes. */
const overheadBytes = 200;
/** Collects datagrams, which a sender does not wait for. */
const lingerMs = 20;
/** Groups stored at once. */
const maxConcurrent = 16;
const receiveBufferBytes = 8 * 1024 * 1024;

/** @throws Error when the port cannot be bound */
export async function openDatagramListener(
  options: DatagramListenerOptions,
  parts: DeliveryParts,
): Promise<OpenSocket> {
  const backlog = new Backlog(options, parts);
  const socket = await openDatagramSocket(options, parts.events, (datagram, sender) => {
    const message = options.messageOf(datagram, sender);
    if (message !== undefined) backlog.add(message, sender.address);
  });
  return {
    port: socket.port,
    async close() {
      await socket.close();
      await backlog.flushed();
    },
  };
}

/**
 * A fault in `take` is logged and the datagram dropped: anyone may have sent it, under any address.
 * @throws Error when the port cannot be bound
 */
export async function openDatagramSocket(
  options: DatagramSocketOptions,
  events: Pick<SocketEvents, 'failed' | 'dropped'>,
  take: (datagram: Buffer, sender: RemoteInfo) => void,
): Promise<OpenSocket> {
  const { address, listener } = options;
  const socket = createSocket({
    type: isIPv4(address.host) ? 'udp4' : 'udp6',
    recvBufferSize: receiveBufferBytes,
  });
  socket.on('message', (datagram, sender) => {
    try {
      take(datagram, sender);
    } catch (error) {
      events.failed(listener, error);
      events.dropped(listener, 'internal', 1);
    }
  });
  try {
    const bound = once(socket, 'listening');
    socket.bind(address.port, address.host === '' ? undefined : address.host);
    await bound;
  } catch (cause) {
    socket.close();
    throw cannotListen(options, cause);
  }
  socket.on('error', (error) => events.failed(listener, error));
  const { port, family } = socket.address();
  const drops = watchKernelDrops(port, family, (datagrams) =>
    events.dropped(listener, 'kernel', datagrams),
  );
  return {
    port,
    async close() {
      drops.close();
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** Messages that are not stored yet, by sender. */
class Backlog {
  readonly #options: DatagramListenerOptions;
  readonly #parts: DeliveryParts;
  #groups = new Map<string, Group>();
  #bytes = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: DatagramListenerOptions, parts: DeliveryParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async flushed(): Promise<void> {
    await this.#flushing;
  }

  add(message: Buffer, peerAddress: string): void {
    const { listener, framing, receiverId, maxBacklogBytes } = this.#options;
    if (this.#bytes + message.length > maxBacklogBytes) {
      return this.#parts.events.dropped(listener, 'backlog', 1);
    }
    try {
      const binding = bindingOf(message, receiverId, framing.tokenOf);
      const key = `${peerAddress} ${binding.token ?? ''}`;
      const group = this.#groups.get(key) ?? { binding, peerAddress, messages: [] };
      this.#groups.set(key, group);
      group.messages.push(message);
      this.#bytes += message.length + overheadBytes;
      this.#flushing ??= this.#flush();
    } catch (error) {
      countRefused(this.#parts.events, listener, { error, messages: 1 });
    }
  }

  async #flush(): Promise<void> {
    await sleep(lingerMs);
    while (this.#groups.size > 0) {
      const waiting = [...this.#groups.values()];
      this.#groups = new Map();
      const lanes = Array.from({ length: maxConcurrent }, async () => {
        for (let group = waiting.pop(); group !== undefined; group = waiting.pop()) {
          await this.#store(group);
        }
      });
      await Promise.all(lanes);
    }
    this.#flushing = undefined;
  }

  async #store({ messages, ...from }: Group): Promise<void> {
    const { listener, framing, maxMessagesPerBatch, ...options } = this.#options;
    const delivery = { listener, waitsForQuota: false, ...from, ...options.delivery };
    for (let at = 0; at < messages.length; at += maxMessagesPerBatch) {
      const batch = messages.slice(at, at + maxMessagesPerBatch);
      try {
        await deliver(this.#parts, delivery, batch, framing.join);
      } catch (error) {
        countRefused(this.#parts.events, listener, { error, messages: batch.length });
      }
      for (const { length } of batch) this.#bytes -= length + overheadBytes;
    }
  }
}
