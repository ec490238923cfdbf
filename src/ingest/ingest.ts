/**
 * The pipeline of an ingest request of any protocol and transport: admit, read, decode, append,
 * reply. It ends when the batch is durable in the queue; the drain moves it to the store.
 */
import type { Admission, MemoryLease, RequestBody } from '../admission/port.ts';
import type { Receiver, ReceiverGrant } from '../model/account.ts';
import { type Batch, countEvents } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import type { BodyCaps, BodyFormat, Protocol, Reply } from '../model/protocol.ts';
import type { RateLimit } from '../model/request.ts';
import type { Queue } from '../queue/port.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import {
  claimKey,
  type Claims,
  decodeReply,
  encodeReply,
  idempotencyKey,
} from './ingest-replay.ts';
import { type RequestHead, type Sender, toSender } from './receiver-sample.ts';
import type { IngestStatistics } from './receiver-statistics.ts';
import type { SeriesClaim, SeriesLedger } from './series-ledger.ts';

export interface IngestRequest extends RequestHead {
  readonly body: RequestBody;
  /** Deadline of the sender on the clock of `performance.now()`; absent = none. */
  readonly deadlineMs?: number | undefined;
}

export interface IngestAnswer {
  readonly reply: Reply;
  /** Undefined without a quota. */
  readonly rateLimit: RateLimit | undefined;
  /** True if this is the answer of an earlier request with the same idempotency key. */
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

export interface Ingest {
  /** Resolves once the accepted records are durable. @throws AppError; other errors are bugs */
  ingest(request: IngestRequest, protocol: Protocol): Promise<IngestAnswer>;
  /** Counts a request to an unknown path below a receiver's address. */
  stray(head: RequestHead, error: AppError): void;
}

export function createIngest(parts: IngestParts): Ingest {
  const answer = createIngestPipeline(parts);
  return {
    async ingest(request, protocol) {
      const sender = toSender(request);
      try {
        return await answer(request, protocol, sender);
      } catch (fault) {
        // The only place that counts refusals.
        parts.statistics.refused(sender, fault);
        throw fault;
      }
    },
    stray: (head, error) => parts.statistics.refused(toSender(head), error),
  };
}

type Pipeline = (
  request: IngestRequest,
  protocol: Protocol,
  sender: Sender,
) => Promise<IngestAnswer>;

function createIngestPipeline(parts: IngestParts): Pipeline {
  const { admission, queue, series, events, statistics, now } = parts;

  async function answer(
    request: IngestRequest,
    protocol: Protocol,
    sender: Sender,
  ): Promise<IngestAnswer> {
    const admitted = await admit(admission, request, { protocol, sender });
    let inflated: ArrayBuffer | undefined;
    try {
      const key = idempotencyKey(request.headers);
      const message = await read(admission, admitted, { protocol, body: request.body });
      if (message.isInflated) inflated = ownMemory(message.bytes);
      checkDeadline(request);
      if (key === undefined) return await store(admitted, protocol, message.bytes);
      return await ingestIdempotent(admitted, protocol, message.bytes, key);
    } finally {
      freeMemory([inflated]);
      admitted.memory.release();
    }
  }

  /** Decode, append, reply. */
  async function store(
    admitted: Admitted,
    protocol: Protocol,
    message: Buffer,
    idempotency?: { key: Uint8Array; bodyDigest: Uint8Array },
  ): Promise<IngestAnswer> {
    const { format, sender } = admitted;
    // The receiver may have been moved to another stream while its body arrived.
    const grant = await admission.receiver(admitted.receiver.receiverId);
    const { receiver } = grant;
    const nowMs = now();
    const claim = series.claim(receiver, nowMs);
    const { limits } = protocol;
    const batch = await protocol.decode(message, format, { limits, nowMs, series: claim });
    coverRows(admitted, message, batch);
    const reply = protocol.reply(batch, format);
    const record = idempotency && { ...idempotency, answer: encodeReply(reply) };
    const { rateLimit, first } = await append(grant, batch, { claim, record });
    if (first !== undefined) return replay(parts, admitted, protocol, first);
    events.accepted(protocol.name, message.length, batch);
    statistics.accepted(sender, { batch, bodyBytes: message.length, status: reply.status });
    return { reply, rateLimit, replayed: false };
  }

  /** Like `store`, but a repeated request gets the answer of the first one and is not charged. */
  async function ingestIdempotent(
    admitted: Admitted,
    protocol: Protocol,
    message: Buffer,
    key: string,
  ): Promise<IngestAnswer> {
    const claim = await claimKey(parts.claims, admitted.receiver, { key, body: message });
    if (claim.answer !== undefined) return replay(parts, admitted, protocol, claim.answer);
    try {
      return await store(admitted, protocol, message, claim);
    } finally {
      claim.settle();
    }
  }

  /**
   * Charges the quotas for the batch and appends it; refunds it if it is not appended.
   * @returns `first`, the answer of an earlier request with the same key if that one counts
   */
  async function append(
    grant: ReceiverGrant,
    batch: Batch,
    { claim, record }: { claim: SeriesClaim; record: Parameters<Queue['append']>[2] },
  ): Promise<{ rateLimit: RateLimit | undefined; first?: Uint8Array | undefined }> {
    const charge = await admission.chargeEvents(grant, countEvents(batch));
    const { rateLimit } = charge;
    if (batch.rows === 0) return { rateLimit };
    try {
      if (!claim.isCurrent(now())) throw staleClaim();
      const { first } = await queue.append(batch, grant.receiver, record);
      if (first !== undefined) charge.refund();
      // The batch of the first request may have had fewer series.
      else claim.confirm();
      return { rateLimit, first: first?.answer };
    } catch (error) {
      charge.refund();
      throw error;
    }
  }

  return answer;
}

/** A request that passed all checks before its body. `memory` must be released. */
interface Admitted {
  readonly grant: ReceiverGrant;
  readonly receiver: Receiver;
  readonly sender: Sender;
  readonly format: BodyFormat;
  readonly caps: BodyCaps;
  readonly memory: MemoryLease;
}

/**
 * The checks before the body, in the order of the specification: a sender learns of no later fault
 * before it is authenticated.
 * @param sender is completed on the way, for the statistics of refused requests
 * @throws AppError of the first check that fails
 */
async function admit(
  admission: Admission,
  { headers, peerAddress }: IngestRequest,
  { protocol, sender }: { readonly protocol: Protocol; readonly sender: Sender },
): Promise<Admitted> {
  const secret = admission.bearer(headers, protocol.tokenPlace); // 401
  const token = await admission.token(secret, 'ingest'); // 401, 503
  // If the address does not name the receiver, the token does.
  sender.receiverId ??= token.receiverId ?? '';
  const grant = await admission.receiver(sender.receiverId); // 404, 503
  const { receiver } = grant;
  if (token.accountIds.includes(receiver.accountId)) sender.tokenId = token.tokenId;
  admission.permitSender(token, receiver, { kind: protocol.kind, peerAddress, headers }); // 403
  const format = admission.bodyFormat(headers, protocol); // 415
  const caps = protocol.bodyCaps(format);
  const travelling = Math.min(receiver.limits.maxBodyBytes ?? caps.travelling, caps.travelling);
  admission.checkDeclaredLength(headers, travelling); // 413
  admission.checkDebt(grant); // 429
  const { heapBytesPerBodyByte } = protocol;
  const memory = admission.reserveMemory(receiver.accountId, headers, heapBytesPerBodyByte); // 503
  return { grant, receiver, sender, format, caps: { ...caps, travelling }, memory };
}

/** Answers with the reply of an earlier request with the same key. */
function replay(
  { events, statistics }: IngestParts,
  { sender }: Admitted,
  { name }: Protocol,
  answer: Uint8Array,
): IngestAnswer {
  events.replayed(name);
  statistics.replayed(sender);
  return { reply: decodeReply(answer), rateLimit: undefined, replayed: true };
}

/** Rows may exceed the estimate by the body, as each repeats its shared attributes. */
function coverRows({ memory }: Admitted, message: Buffer, { payload }: Batch): void {
  try {
    memory.coverHeap(message.length + payload.length);
  } catch (error) {
    freeMemory([ownMemory(payload)]);
    throw error;
  }
}

/** Reads the body, removes its framing and inflates it. */
async function read(
  admission: Admission,
  { caps, format, memory }: Admitted,
  { protocol, body }: { protocol: Protocol; body: RequestBody },
): Promise<{ readonly bytes: Buffer; readonly isInflated: boolean }> {
  const travelled = await admission.readBody(body, caps.travelling, memory);
  const { message, coding } = protocol.unframe?.(travelled, format) ?? {
    message: travelled,
    coding: format.coding,
  };
  const bytes = await admission.inflate(message, coding, { maxBytes: caps.inflated, memory });
  return { bytes, isInflated: bytes !== message };
}

/** Labels of known series may have been deleted with the data of their stream. */
function staleClaim(): AppError {
  return new AppError('unavailable', 'cannot accept the request now: send it again', {
    retryAfterSeconds: 1,
  });
}

/** After its deadline a sender retries, so that storing this request would duplicate it. */
function checkDeadline({ deadlineMs }: IngestRequest): void {
  if (deadlineMs === undefined || performance.now() < deadlineMs) return;
  throw new AppError('timeout', 'cannot accept the request: its deadline has passed');
}
