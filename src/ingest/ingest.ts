/**
 * The way of one ingest request, whatever its protocol and transport: admit, read, decode, append,
 * reply. It ends when the batch is durable; how it gets to the store is the drain's business.
 */
import type { Admission, RequestBody } from '../admission/port.ts';
import type { Batch } from '../model/batch.ts';
import type { BodyFormat, Protocol } from '../model/protocol.ts';
import type { RateLimit, RequestHeaders } from '../model/request.ts';
import type { Queue } from '../queue/port.ts';
import type { IngestEvents } from '../telemetry/ingest-events.ts';
import { type Admitted, admit } from './ingest-admit.ts';
import { createReplays, idempotencyKey } from './ingest-replay.ts';

export interface IngestRequest {
  readonly receiverId: string;
  readonly headers: RequestHeaders;
  /** Of the socket; may be a proxy. */
  readonly peerAddress: string;
  readonly body: RequestBody;
}

export interface IngestAnswer {
  readonly status: number;
  /** Undefined where there is no body. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array | string;
  /** Undefined where no quota is set. */
  readonly rateLimit: RateLimit | undefined;
  /** True when an earlier request with this key got this answer first. */
  readonly replayed: boolean;
}

export interface IngestParts {
  readonly admission: Admission;
  readonly queue: Pick<Queue, 'append' | 'recall'>;
  readonly events: IngestEvents;
}

export interface Ingest {
  /** Resolves once everything accepted is durable. @throws AppError; anything else is a bug */
  ingest(request: IngestRequest, protocol: Protocol): Promise<IngestAnswer>;
}

export function createIngest(parts: IngestParts): Ingest {
  const { admission, queue, events } = parts;
  const replays = createReplays(queue);

  async function ingest(request: IngestRequest, protocol: Protocol): Promise<IngestAnswer> {
    const admitted = await admit(admission, request, protocol);
    try {
      const key = idempotencyKey(request.headers);
      const body = await admission.readBody(request.body, admitted.maxBodyBytes, admitted.memory);
      if (key === undefined) return await take(admitted, protocol, body);
      return await takeOnce(admitted, protocol, body, key);
    } finally {
      admitted.memory.release();
    }
  }

  /** Decode, append, reply. */
  async function take(
    admitted: Admitted,
    protocol: Protocol,
    body: Buffer,
    replay?: { key: Uint8Array; bodyDigest: Uint8Array },
  ): Promise<IngestAnswer> {
    const batch = await protocol.decode(body, admitted.format, protocol.limits);
    const reply = protocol.encodeReply(batch, admitted.format);
    const record = replay && { ...replay, answer: toBytes(reply) };
    const rateLimit = await append(admitted, batch, record);
    events.accepted(protocol.name, body.length, batch.rows, batch.rejectedByReason);
    return answer(protocol, admitted.format, reply, rateLimit);
  }

  /** As `take`, but a repeated request gets the answer of the first one, uncharged. */
  async function takeOnce(
    admitted: Admitted,
    protocol: Protocol,
    body: Buffer,
    key: string,
  ): Promise<IngestAnswer> {
    const claim = await replays.claim(admitted.receiver.receiverId, key, body);
    if (claim.answer !== undefined) {
      events.replayed(protocol.name);
      return { ...answer(protocol, admitted.format, claim.answer, undefined), replayed: true };
    }
    try {
      return await take(admitted, protocol, body, claim);
    } finally {
      claim.settle();
    }
  }

  /** Charges the quotas for what is appended, and only for that. */
  async function append(
    { grant, receiver }: Admitted,
    batch: Batch,
    record: Parameters<Queue['append']>[2],
  ): Promise<RateLimit | undefined> {
    const charge = await admission.chargeEvents(grant, batch.rows);
    if (batch.rows === 0) return charge.rateLimit;
    try {
      await queue.append(batch, receiver, record);
    } catch (error) {
      charge.refund();
      throw error;
    }
    return charge.rateLimit;
  }

  return { ingest };
}

function answer(
  protocol: Protocol,
  format: BodyFormat,
  body: Uint8Array | string,
  rateLimit: RateLimit | undefined,
): IngestAnswer {
  const contentType = protocol.replyType(format);
  return { status: protocol.successStatus, contentType, body, rateLimit, replayed: false };
}

function toBytes(reply: Uint8Array | string): Uint8Array {
  return typeof reply === 'string' ? Buffer.from(reply) : reply;
}
