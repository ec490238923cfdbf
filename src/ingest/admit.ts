/** The first steps of an ingest request: the checks before its body, and the body. */
import type { Admission, MemoryLease, RequestBody } from '../admission/port.ts';
import type { Receiver, ReceiverGrant, TokenGrant } from '../model/account.ts';
import {
  type BodyCaps,
  type BodyFormat,
  capsOf,
  type Protocol,
  type StepPlace,
} from '../model/protocol.ts';
import type { RequestTarget } from '../model/request.ts';
import type { RequestHead, Sender } from './receiver-sample.ts';

export interface IngestRequest extends RequestHead {
  readonly body: RequestBody;
  /** The sender needs no token: its listener or its client certificate determines `receiverId`. */
  readonly isBound?: boolean | undefined;
  /** Deadline of the sender on the clock of `performance.now()`; absent = none. */
  readonly deadlineMs?: number | undefined;
  /** Of a step of a body that is stored in steps. */
  readonly stepPlace?: StepPlace;
  /** Absent on gRPC. */
  readonly target?: RequestTarget;
}

/** A request that passed all checks before its body. `memory` must be released. */
export interface Admitted {
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
export async function admit(
  admission: Admission,
  request: IngestRequest,
  { protocol, sender }: { readonly protocol: Protocol; readonly sender: Sender },
): Promise<Admitted> {
  const { headers } = request;
  const grant = await permit(admission, request, { protocol, sender });
  const { receiver } = grant;
  const format = admission.bodyFormat(headers, protocol); // 415
  const caps = capsOf(protocol, format);
  const wireBytes = Math.min(receiver.limits.maxBodyBytes ?? caps.wireBytes, caps.wireBytes);
  admission.checkDeclaredLength(headers, wireBytes); // 413
  admission.checkDebt(grant); // 429
  const { heapBytesPerBodyByte } = protocol;
  const memory = admission.reserveMemory(receiver.accountId, headers, heapBytesPerBodyByte); // 503
  return { grant, receiver, sender, format, caps: { ...caps, wireBytes }, memory };
}

/** The first of these checks: of the token and its receiver. */
export async function permit(
  admission: Admission,
  { headers, peerAddress, isBound }: IngestRequest,
  { protocol, sender }: { readonly protocol: Protocol; readonly sender: Sender },
): Promise<ReceiverGrant> {
  let token: TokenGrant | undefined;
  if (isBound !== true) {
    const secret = admission.bearer(headers, protocol.tokenPlace); // 401
    token = await admission.token(secret, 'ingest'); // 401, 503
  }
  // If the address does not name the receiver, the token does.
  sender.receiverId ??= token?.receiverId ?? '';
  const grant = await admission.receiver(sender.receiverId); // 404, 503
  const { receiver } = grant;
  if (token?.accountIds.includes(receiver.accountId)) sender.tokenId = token.tokenId;
  admission.permitSender(token, receiver, { kind: protocol.kind, peerAddress, headers }); // 403
  return grant;
}

/** Reads the body, removes its framing and inflates it. */
export async function read(
  admission: Admission,
  { caps, format, memory }: Admitted,
  { protocol, body }: { protocol: Protocol; body: RequestBody },
): Promise<{ readonly bytes: Buffer; readonly isInflated: boolean }> {
  const received = await admission.readBody(body, caps.wireBytes, memory);
  const { message, coding } = protocol.unframe?.(received, format) ?? {
    message: received,
    coding: format.coding,
  };
  const bytes = await admission.inflate(message, coding, { maxBytes: caps.inflatedBytes, memory });
  return { bytes, isInflated: bytes !== message };
}
