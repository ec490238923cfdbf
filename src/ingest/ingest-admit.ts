/**
 * The checks before the body, in the order in which the design answers for them. Nothing of the
 * body is looked at here; what the order protects is that a sender learns of no later fault before
 * it has proved who it is.
 */
import type { Admission, MemoryLease, ReceiverFacts } from '../admission/port.ts';
import type { Receiver } from '../model/account.ts';
import type { BodyCaps, BodyFormat, Protocol } from '../model/protocol.ts';
import type { IngestRequest } from './ingest.ts';
import type { Sender } from './receiver-sample.ts';

/** A request whose head is in order. `memory` must be released. */
export interface Admitted {
  readonly grant: ReceiverFacts;
  readonly receiver: Receiver;
  readonly sender: Sender;
  readonly format: BodyFormat;
  readonly caps: BodyCaps;
  readonly memory: MemoryLease;
}

/**
 * @param sender learns what becomes known of it, for the statistics of what is refused.
 * @throws AppError of the first check that fails
 */
export async function admit(
  admission: Admission,
  { headers, peerAddress }: IngestRequest,
  { protocol, sender }: { readonly protocol: Protocol; readonly sender: Sender },
): Promise<Admitted> {
  const secret = admission.bearer(headers); // 401
  const token = await admission.token(secret, 'ingest'); // 401, 503
  // Where the address names none, the token does.
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
