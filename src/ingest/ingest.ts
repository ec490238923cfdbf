/**
 * The pipeline of an ingest request of any protocol and transport: admit, read, decode, append,
 * reply. It ends when the batch is durable in the queue; the drain moves it to the store.
 */
import type { Admission } from '../admission/port.ts';
import type { ReceiverGrant } from '../model/account.ts';
import { type Batch, countEvents } from '../model/batch.ts';
import { AppError, sendAgain } from '../model/errors.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import type { StatusRoute, Protocol, Reply } from '../model/protocol.ts';
import type { RateLimit, RequestTarget } from '../model/request.ts';
import type { Queue } from '../queue/port.ts';
import { createTransformer } from '../transform/transform-batch.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { admit, type Admitted, type IngestRequest, permit, read } from './admit.ts';
import {
  claimKey,
  type Claims,
  decodeReply,
  encodeReply,
  idempotencyKey,
} from './ingest-replay.ts';
import { answerInSteps, type Repeated, storeStep } from './ingest-steps.ts';
import { type RequestHead, type Sender, toSender } from './receiver-sample.ts';
import type { IngestStatistics } from './receiver-statistics.ts';
import type { SeriesClaim, SeriesLedger } from './series-ledger.ts';

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

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest(parts: IngestParts) {
  const answer = createIngestPipeline(parts);
  const answerSteps: Pipeline = (request, protocol, sender) =>
    protocol.steps === undefined
      ? answer(request, protocol, sender)
      : answerInSteps(request, protocol.steps, (step) => answer(step, protocol, sender));
  return {
    /** Resolves once the accepted records are durable. @throws AppError; other errors are bugs */
    async ingest(request: IngestRequest, protocol: Protocol): Promise<IngestAnswer> {
      const sender = toSender(request);
      try {
        return await answerSteps(request, protocol, sender);
      } catch (fault) {
        // The only place that counts refusals.
        parts.statistics.refused(sender, fault);
        throw fault;
      }
    },
    /** Answers a request that stores nothing, after the checks of the token. @throws AppError */
    async answerStatus(
      request: IngestRequest,
      protocol: Protocol,
      route: StatusRoute,
    ): Promise<Reply> {
      const sender = toSender(request);
      const target = request.target ?? noTarget;
      if (route.isPublic) return route.answer(target, noBody);
      try {
        const { admission } = parts;
        const { receiver } = await permit(admission, request, { protocol, sender });
        const memory = admission.reserveMemory(receiver.accountId, request.headers, 1);
        try {
          const accepted = { ...protocol, takesAnyMediaType: true } as const;
          const { coding } = admission.bodyFormat(request.headers, accepted);
          const maxBytes = maxStatusBodyBytes;
          const sent = await admission.readBody(request.body, maxBytes, memory);
          const body = await admission.inflate(sent, coding, { maxBytes, memory });
          return route.answer(target, body);
        } finally {
          memory.release();
        }
      } catch (fault) {
        parts.statistics.refused(sender, fault);
        throw fault;
      }
    },
    /** Counts a request to an unknown path below a receiver's address. */
    stray: (head: RequestHead, error: AppError) => parts.statistics.refused(toSender(head), error),
  };
}

/** Templates and pipelines, which are not stored, have some 100 KiB. */
const maxStatusBodyBytes = 1024 * 1024;
const noBody = Buffer.alloc(0);
const noTarget: RequestTarget = { path: {}, query: new URLSearchParams() };

type Pipeline = (
  request: IngestRequest,
  protocol: Protocol,
  sender: Sender,
) => Promise<IngestAnswer>;

function createIngestPipeline(parts: IngestParts): Pipeline {
  const { admission, series, events, statistics, now } = parts;
  const transform = createTransformer();

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
      const { bytes } = message;
      const route = { protocol, target: request.target };
      const once = (body: Buffer, repeated: Repeated | undefined) =>
        repeated === undefined
          ? store(admitted, route, body)
          : ingestIdempotent(admitted, route, body, repeated);
      const { stepPlace } = request;
      if (protocol.steps !== undefined && stepPlace !== undefined) {
        return await storeStep(bytes, stepPlace, protocol.steps, once);
      }
      return await once(bytes, key === undefined ? undefined : { key, body: bytes });
    } finally {
      freeMemory([inflated]);
      admitted.memory.release();
    }
  }

  /** Decode, append, reply. */
  async function store(
    admitted: Admitted,
    { protocol, target }: Route,
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
    const coverHeap = (heapBytes: number) => admitted.memory.coverHeap(heapBytes);
    const context = { limits, nowMs, series: claim, target, coverHeap };
    const decoded = await protocol.decode(message, format, context);
    coverRows(admitted, message, decoded);
    // What the transform drops is accepted: its sender must not send it again.
    const reply = protocol.reply(decoded, format, target);
    const decodedBytes = message.length + decoded.payload.length;
    const batch = await transform(decoded, receiver.transform, (bytes) =>
      coverHeap(decodedBytes + bytes),
    );
    const record = idempotency && { ...idempotency, answer: encodeReply(reply) };
    const { rateLimit, first } = await append(parts, batch, {
      grant,
      claim,
      record,
      charged: countEvents(decoded),
    });
    if (first !== undefined) return replay(parts, admitted, protocol, first);
    events.accepted(protocol.name, message.length, batch);
    statistics.accepted(sender, { batch, bodyBytes: message.length, status: reply.status });
    return { reply, rateLimit, replayed: false };
  }

  /** Like `store`, but a repeated request gets the answer of the first one and is not charged. */
  async function ingestIdempotent(
    admitted: Admitted,
    route: Route,
    message: Buffer,
    repeated: Repeated,
  ): Promise<IngestAnswer> {
    const claim = await claimKey(parts.claims, admitted.receiver, repeated);
    if (claim.answer !== undefined) return replay(parts, admitted, route.protocol, claim.answer);
    try {
      return await store(admitted, route, message, claim);
    } finally {
      claim.settle();
    }
  }

  return answer;
}

interface Route {
  readonly protocol: Protocol;
  readonly target: RequestTarget | undefined;
}

interface AppendContext {
  readonly grant: ReceiverGrant;
  readonly claim: SeriesClaim;
  readonly record: Parameters<Queue['append']>[2];
  /** Events that count against the quotas. */
  readonly charged: number;
}

/**
 * Charges the quotas for the batch and appends it; refunds it if it is not appended.
 * @returns `first`, the answer of an earlier request with the same key if that one counts
 */
async function append(
  { admission, queue, now }: IngestParts,
  batch: Batch,
  { grant, claim, record, charged }: AppendContext,
): Promise<{ rateLimit: RateLimit | undefined; first?: Uint8Array | undefined }> {
  const charge = await admission.chargeEvents(grant, charged);
  const { rateLimit } = charge;
  if (batch.rows === 0) return { rateLimit };
  try {
    // Labels of known series may have been deleted with the data of their stream.
    if (!claim.isCurrent(now())) throw sendAgain();
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

/** The items of an answer are held as text, as the answer, and encrypted. */
const heapBytesPerItemByte = 3;

/** Rows and items may exceed the estimate by the body: each repeats what records share. */
function coverRows({ memory }: Admitted, message: Buffer, { payload, items = '' }: Batch): void {
  try {
    const answerBytes = heapBytesPerItemByte * items.length;
    memory.coverHeap(message.length + payload.length + answerBytes);
  } catch (error) {
    freeMemory([ownMemory(payload)]);
    throw error;
  }
}

/** After its deadline a sender retries, so that storing this request would duplicate it. */
function checkDeadline({ deadlineMs }: IngestRequest): void {
  if (deadlineMs === undefined || performance.now() < deadlineMs) return;
  throw new AppError('timeout', 'cannot accept the request: its deadline has passed');
}
