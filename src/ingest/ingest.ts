/**
 * The way of one ingest request, whatever its protocol and transport: admit, read, decode, append,
 * reply. It ends when the batch is durable; how it gets to the store is the drain's business.
 */
import type { Admission, ReceiverFacts, RequestBody } from '../admission/port.ts';
import { type Batch, countEvents } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import type { Protocol, Reply } from '../model/protocol.ts';
import type { RateLimit, RequestHeaders } from '../model/request.ts';
import type { Queue } from '../queue/port.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { type Admitted, admit } from './ingest-admit.ts';
import {
  type Claims,
  createReplays,
  decodeReply,
  encodeReply,
  idempotencyKey,
} from './ingest-replay.ts';
import { type Sender, toSender } from './receiver-sample.ts';
import type { IngestStatistics } from './receiver-statistics.ts';
import type { SeriesClaim, SeriesLedger } from './series-ledger.ts';

export interface IngestRequest {
  /** Undefined where the address names none: the token does. */
  readonly receiverId: string | undefined;
  readonly headers: RequestHeaders;
  /** Of the socket; may be a proxy. */
  readonly peerAddress: string;
  readonly body: RequestBody;
  /** When its sender stops to wait, as `performance.now()` counts; absent = it said nothing. */
  readonly deadlineMs?: number | undefined;
}

export interface IngestAnswer {
  readonly reply: Reply;
  /** Undefined where no quota is set. */
  readonly rateLimit: RateLimit | undefined;
  /** True when an earlier request with this key got this answer first. */
  readonly replayed: boolean;
}

export interface IngestParts {
  readonly admission: Admission;
  readonly queue: Pick<Queue, 'append'>;
  readonly claims: Claims;
  readonly series: SeriesLedger;
  readonly events: IngestEvents;
  readonly statistics: IngestStatistics;
  /** Unix ms. */
  readonly now: () => number;
}

/** What is known of who sends before anything is checked. */
export type IngestHead = Pick<IngestRequest, 'receiverId' | 'headers' | 'peerAddress'>;

export interface Ingest {
  /** Resolves once everything accepted is durable. @throws AppError; anything else is a bug */
  ingest(request: IngestRequest, protocol: Protocol): Promise<IngestAnswer>;
  /** Notes that a request below a receiver's address went to no route of it. */
  stray(head: IngestHead, error: AppError): void;
}

export function createIngest(parts: IngestParts): Ingest {
  const answer = createWay(parts);
  return {
    async ingest(request, protocol) {
      const sender = toSender(request);
      try {
        return await answer(request, protocol, sender);
      } catch (fault) {
        // Every refusal comes by here, so that none goes uncounted.
        parts.statistics.refused(sender, fault);
        throw fault;
      }
    },
    stray: (head, error) => parts.statistics.refused(toSender(head), error),
  };
}

type Way = (request: IngestRequest, protocol: Protocol, sender: Sender) => Promise<IngestAnswer>;

function createWay(parts: IngestParts): Way {
  const { admission, queue, series, events, statistics, now } = parts;
  const replays = createReplays(parts.claims);

  async function answer(
    request: IngestRequest,
    protocol: Protocol,
    sender: Sender,
  ): Promise<IngestAnswer> {
    const admitted = await admit(admission, request, { protocol, sender });
    try {
      const key = idempotencyKey(request.headers);
      const message = await read(admission, admitted, { protocol, body: request.body });
      checkDeadline(request);
      if (key === undefined) return await take(admitted, protocol, message);
      return await takeOnce(admitted, protocol, message, key);
    } finally {
      admitted.memory.release();
    }
  }

  /** Decode, append, reply. */
  async function take(
    admitted: Admitted,
    protocol: Protocol,
    message: Buffer,
    replay?: { key: Uint8Array; bodyDigest: Uint8Array },
  ): Promise<IngestAnswer> {
    const { format, sender } = admitted;
    // While its body came the receiver may have been given another stream, and the old one deleted.
    const grant = await admission.receiver(admitted.receiver.receiverId);
    const { receiver } = grant;
    const nowMs = now();
    const claim = series.claim(receiver, nowMs);
    const { limits } = protocol;
    const batch = await protocol.decode(message, format, { limits, nowMs, series: claim });
    coverRows(admitted, message, batch);
    const reply = protocol.reply(batch, format);
    const record = replay && { ...replay, answer: encodeReply(reply) };
    const { rateLimit, first } = await append(grant, batch, { claim, record });
    if (first !== undefined) return answerAgain(parts, admitted, protocol, first);
    events.accepted(protocol.name, message.length, batch);
    statistics.accepted(sender, { batch, bodyBytes: message.length, status: reply.status });
    return { reply, rateLimit, replayed: false };
  }

  /** As `take`, but a repeated request gets the answer of the first one, uncharged. */
  async function takeOnce(
    admitted: Admitted,
    protocol: Protocol,
    message: Buffer,
    key: string,
  ): Promise<IngestAnswer> {
    const claim = await replays.claim(admitted.receiver, key, message);
    if (claim.answer !== undefined) return answerAgain(parts, admitted, protocol, claim.answer);
    try {
      return await take(admitted, protocol, message, claim);
    } finally {
      claim.settle();
    }
  }

  /**
   * Charges the quotas for what is appended, and only for that.
   * @returns as `first` the answer of an earlier request that proves to be the one that counts
   */
  async function append(
    grant: ReceiverFacts,
    batch: Batch,
    { claim, record }: { claim: SeriesClaim; record: Parameters<Queue['append']>[2] },
  ): Promise<{ rateLimit: RateLimit | undefined; first?: Uint8Array | undefined }> {
    const charge = await admission.chargeEvents(grant, countEvents(batch));
    const { rateLimit } = charge;
    if (batch.rows === 0) return { rateLimit };
    try {
      if (!claim.isCurrent(now())) throw notCurrent();
      const { first } = await queue.append(batch, grant.receiver, record);
      if (first !== undefined) charge.refund();
      // What an earlier batch brought in place of this one may be less.
      else claim.confirm();
      return { rateLimit, first: first?.answer };
    } catch (error) {
      charge.refund();
      throw error;
    }
  }

  return answer;
}

/** What an earlier request with the same key was told. */
function answerAgain(
  { events, statistics }: IngestParts,
  { sender }: Admitted,
  { name }: Protocol,
  answer: Uint8Array,
): IngestAnswer {
  events.replayed(name);
  statistics.replayed(sender);
  return { reply: decodeReply(answer), rateLimit: undefined, replayed: true };
}

/** Rows may take more than their body let expect: each repeats what it shares with others. */
function coverRows({ memory }: Admitted, message: Buffer, { payload }: Batch): void {
  try {
    memory.coverHeap(message.length + payload.length);
  } catch (error) {
    freeMemory([ownMemory(payload)]);
    throw error;
  }
}

/** The message as its decoder wants it: out of its framing, inflated. */
async function read(
  admission: Admission,
  { caps, format, memory }: Admitted,
  { protocol, body }: { protocol: Protocol; body: RequestBody },
): Promise<Buffer> {
  const bytes = await admission.readBody(body, caps.travelling, memory);
  const { message, coding } = protocol.unframe?.(bytes, format) ?? {
    message: bytes,
    coding: format.coding,
  };
  return admission.inflate(message, coding, { maxBytes: caps.inflated, memory });
}

/** Labels that the batch counts on may just have been deleted with their stream's data. */
function notCurrent(): AppError {
  return new AppError('unavailable', 'cannot take the request now: send it again', {
    retryAfterSeconds: 1,
  });
}

/** A sender that waits no more sends again: what it sent now must not be stored besides. */
function checkDeadline({ deadlineMs }: IngestRequest): void {
  if (deadlineMs === undefined || performance.now() < deadlineMs) return;
  throw new AppError('timeout', 'cannot take the request: its deadline has passed');
}
