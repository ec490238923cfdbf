/**
 * A UDP port whose datagrams are messages. They are stored in batches for each sender; those that
 * arrive faster than they can be stored are dropped and counted.
 */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { AppError } from '../model/errors.ts';
import { type Binding, deliver, type Delivery, type DeliveryParts } from './deliver.ts';
import { bindingOf, type Framing } from './serve-frames.ts';
import { cannotListen, type OpenSocket, type StreamListenerOptions } from './stream-listener.ts';

export interface DatagramListenerOptions
  extends Pick<StreamListenerOptions, 'address' | 'listener' | 'setting'> {
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
  const { listener, address, framing, receiverId, messageOf } = options;
  const { events } = parts;
  let groups = new Map<string, Group>();
  let backlogBytes = 0;
  let flushing: Promise<void> | undefined;

  function take(datagram: Buffer, sender: RemoteInfo): void {
    const message = messageOf(datagram, sender);
    if (message === undefined) return;
    if (backlogBytes + message.length > options.maxBacklogBytes) {
      return events.dropped(listener, 'backlog', 1);
    }
    try {
      const binding = bindingOf(message, receiverId, framing.tokenOf);
      const key = `${sender.address} ${binding.token ?? ''}`;
      let group = groups.get(key);
      if (group === undefined) {
        group = { binding, peerAddress: sender.address, messages: [] };
        groups.set(key, group);
      }
      group.messages.push(message);
      backlogBytes += message.length + overheadBytes;
      flushing ??= flush();
    } catch (error) {
      drop(error, 1);
    }
  }

  async function flush(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, lingerMs));
    while (groups.size > 0) {
      const waiting = [...groups.values()];
      groups = new Map();
      const workers = Array.from({ length: maxConcurrent }, async () => {
        for (let group = waiting.pop(); group !== undefined; group = waiting.pop()) {
          await storeGroup(group);
        }
      });
      await Promise.all(workers);
    }
    flushing = undefined;
  }

  async function storeGroup({ messages, ...from }: Group): Promise<void> {
    const delivery = { listener, waitsForQuota: false, ...from, ...options.delivery };
    while (messages.length > 0) {
      const batch = messages.splice(0, options.maxMessagesPerBatch);
      try {
        await deliver(parts, delivery, batch, framing.join);
      } catch (error) {
        drop(error, batch.length);
      }
      for (const { length } of batch) backlogBytes -= length + overheadBytes;
    }
  }

  function drop(error: unknown, messages: number): void {
    if (error instanceof AppError) {
      events.dropped(listener, error.code, messages, error.message);
    } else {
      events.failed(listener, error);
    }
  }

  const socket = createSocket({
    type: isIPv4(address.host) ? 'udp4' : 'udp6',
    recvBufferSize: receiveBufferBytes,
  });
  socket.on('message', take);
  try {
    const bound = once(socket, 'listening');
    socket.bind(address.port, address.host === '' ? undefined : address.host);
    await bound;
  } catch (cause) {
    socket.close();
    throw cannotListen(options, cause);
  }
  socket.on('error', (error) => events.failed(listener, error));
  return {
    port: socket.address().port,
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
      await flushing;
    },
  };
}
