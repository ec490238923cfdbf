/**
 * Hands messages of a socket to the ingest pipeline and waits until they are durable: what a sender
 * cannot learn from a response becomes back-pressure or a counted drop.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestBody } from '../admission/port.ts';
import type { IngestRequest } from '../ingest/admit.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import type { SocketEvents } from '../telemetry/socket-events.ts';
import type { HeldMemory } from './held-bytes.ts';

/** Who sends: bound to a receiver, or by a token. */
export type Binding =
  | { readonly receiverId: string; readonly token?: undefined }
  | { readonly receiverId?: undefined; readonly token: string };

export interface Delivery {
  readonly listener: string;
  readonly protocol: Protocol;
  readonly binding: Binding;
  readonly peerAddress: string;
  /** Of a message that its sender may send again. */
  readonly idempotencyKey?: string | undefined;
  /** False: messages over a quota are dropped. True: the sender waits. */
  readonly waitsForQuota: boolean;
}

export interface DeliveryParts {
  readonly ingest: Pick<Ingest, 'ingest'>;
  readonly ingestEvents: Pick<IngestEvents, 'refused'>;
  readonly events: SocketEvents;
  /** Of messages of which the end is missing. */
  readonly partials: HeldMemory;
  /** Of what is read while earlier messages are stored. */
  readonly ahead: HeldMemory;
  /** Aborts at the end of a stop: what cannot be stored by then is dropped. */
  readonly signal: AbortSignal;
}

/** Codes of a sender that may not send, whatever its messages contain. */
const senderFaults: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'not_found']);

/**
 * Resolves once all messages are durable or dropped. Retries while Weir is unavailable.
 * @param join messages to a body of the protocol
 * @returns false if they could not be stored before the end of a stop
 * @throws AppError if the sender may not send
 */
export async function deliver(
  parts: DeliveryParts,
  delivery: Delivery,
  messages: readonly Buffer[],
  join: (messages: readonly Buffer[]) => Buffer,
): Promise<boolean> {
  const { events, signal } = parts;
  const { listener, protocol } = delivery;
  for (;;) {
    const fault = await store(parts, delivery, join(messages));
    if (fault === undefined) return true;
    const { code } = fault;
    parts.ingestEvents.refused(protocol.name, code);
    if (senderFaults.has(code)) throw fault;
    const isRetried =
      code === 'unavailable' || (code === 'quota_exceeded' && delivery.waitsForQuota);
    if (!isRetried || signal.aborted) {
      if (messages.length > 1 && !isRetried && code !== 'quota_exceeded') {
        // A single message is at fault, or they are too many for the receiver at once.
        const half = messages.length >> 1;
        const isDone = await deliver(parts, delivery, messages.slice(0, half), join);
        return (await deliver(parts, delivery, messages.slice(half), join)) && isDone;
      }
      if (code === 'internal') events.failed(listener, fault.cause);
      events.dropped(listener, code, messages.length, fault.message);
      return !isRetried;
    }
    await sleep((fault.retryAfterSeconds ?? 1) * 1000, undefined, { signal }).catch(() => {});
  }
}

/** Counts messages that `deliver` refused as dropped; any other error is a bug. */
export function countRefused(
  events: SocketEvents,
  listener: string,
  { error, messages }: { readonly error: unknown; readonly messages: number },
): void {
  if (error instanceof AppError) events.dropped(listener, error.code, messages, error.message);
  else events.failed(listener, error);
}

/** @returns the fault if the body was not stored */
async function store(
  { ingest }: DeliveryParts,
  delivery: Delivery,
  body: Buffer,
): Promise<AppError | undefined> {
  try {
    await ingest.ingest(toRequest(body, delivery), delivery.protocol);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    return new AppError('internal', 'cannot store the message', { cause: error });
  }
}

const none: readonly string[] = [];
const noHeaders: RequestHeaders = {
  authorization: none,
  datadogKey: none,
  activeAccount: none,
  contentType: none,
  contentEncoding: none,
  contentLength: undefined,
  forwardedFor: none,
  idempotencyKey: none,
};

function toRequest(
  body: Buffer,
  { protocol, binding: { receiverId, token }, peerAddress, idempotencyKey }: Delivery,
): IngestRequest {
  return {
    receiverId,
    isBound: receiverId !== undefined,
    peerAddress,
    headers: {
      ...noHeaders,
      authorization: token === undefined ? none : [`Bearer ${token}`],
      contentType: protocol.mediaTypes.slice(0, 1).map(({ name }) => name),
      contentLength: body.length,
      idempotencyKey: idempotencyKey === undefined ? none : [idempotencyKey],
    },
    body: toBody(body),
  };
}

function toBody(bytes: Buffer): RequestBody {
  return {
    stream: Readable.from([bytes]),
    expected: bytes.length > 0,
    declaredBytes: bytes.length,
    arrivedWhole: () => true,
    sendContinue: undefined,
  };
}
