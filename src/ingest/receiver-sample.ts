/**
 * Samples of refused requests and rejected records, shown to the managers of a receiver. A sample
 * contains neither secrets nor data of a body.
 */
import type { Batch } from '../model/batch.ts';
import { AppError, type ErrorCode, errorTable } from '../model/errors.ts';
import type { ReceiverSample } from '../model/receiver-statistics.ts';
import type { RequestHeaders } from '../model/request.ts';

/** A request before any check. */
export interface RequestHead {
  /** Undefined if the address does not name the receiver: the token does. */
  readonly receiverId: string | undefined;
  readonly headers: RequestHeaders;
  /** Address of the socket's peer; may be a proxy. */
  readonly peerAddress: string;
}

/** The sender of a request, completed while the request is admitted. */
export interface Sender {
  receiverId: string | undefined;
  /** Undefined until the token is known to belong to the receiver's account. */
  tokenId: string | undefined;
  readonly peerAddress: string;
  readonly contentType: string | undefined;
  readonly declaredBytes: number | undefined;
}

const maxDetailLength = 500;
const maxContentTypeLength = 100;
/** Samples of rejected records per request. */
const maxRecordSamples = 3;
/** Messages of these codes quote headers only, which help to find the fault. */
const quoteNoBody: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'forbidden',
  'unsupported_media',
]);

export function toSender({ receiverId, headers, peerAddress }: RequestHead): Sender {
  return {
    receiverId,
    tokenId: undefined,
    peerAddress,
    contentType: headers.contentType[0],
    declaredBytes: headers.contentLength,
  };
}

/** @param fault AppError; the message of another error is not shown */
export function toErrorCode(fault: unknown): ErrorCode {
  return fault instanceof AppError ? fault.code : 'internal';
}

export function toRequestSample(sender: Sender, fault: unknown, at: string): ReceiverSample {
  const code = toErrorCode(fault);
  const message =
    fault instanceof AppError ? fault.message : 'cannot answer: an internal fault of Weir';
  return {
    at,
    kind: 'request',
    reason: code,
    status: errorTable[code].httpStatus,
    detail: toDetail(quoteNoBody.has(code) ? message : withoutQuotes(message)),
    ...toOrigin(sender, sender.declaredBytes),
  };
}

/** Samples of the first rejected records. @param taken with the status of the answer */
export function toRecordSamples(
  sender: Sender,
  taken: { readonly batch: Batch; readonly bodyBytes: number; readonly status: number },
  at: string,
): ReceiverSample[] {
  const { batch, bodyBytes, status } = taken;
  return batch.rejected.slice(0, maxRecordSamples).map(({ index, reason: sent }) => {
    const reason = toFixedReason(sent, batch.rejectedByReason);
    return {
      at,
      kind: 'record',
      reason,
      status,
      detail: toDetail(`cannot accept the record at index ${index}: ${reason}`),
      ...toOrigin(sender, bodyBytes),
    };
  });
}

/** Removes the example of the fault that follows the fixed reason. */
function toFixedReason(reason: string, counted: ReadonlyMap<string, number>): string {
  if (counted.has(reason)) return reason;
  return [...counted.keys()].find((word) => reason.startsWith(`${word}: `)) ?? 'rejected';
}

function toOrigin({ tokenId, peerAddress, contentType }: Sender, bodyBytes: number | undefined) {
  return {
    tokenId: tokenId ?? null,
    peerAddress,
    contentType: contentType === undefined ? null : cut(masked(contentType), maxContentTypeLength),
    bodyBytes: bodyBytes ?? null,
  };
}

function toDetail(message: string): string {
  return cut(masked(message), maxDetailLength);
}

/** Quoted words of Weir's own messages. */
const ownWords: ReadonlySet<string> = new Set([
  `'"'`,
  '\\"',
  '"# EOF"',
  '"le"',
  '"quantile"',
  '"+Inf"',
]);

/** Removes text in double quotes; an unclosed quote extends to the end. */
function withoutQuotes(message: string): string {
  return message.replace(/'"'|\\"|"(?:[^"\\]|\\.)*(?:"|$)/gsu, (quoted) =>
    ownWords.has(quoted) ? quoted : '"…"',
  );
}

/** Masks secrets, which may be in a wrong header. */
function masked(text: string): string {
  return text.replace(/(wr[ia]_)[\w.~+/=-]*/gi, '$1…');
}

function cut(text: string, maxLength: number): string {
  const whole = text.toWellFormed();
  return whole.length <= maxLength ? whole : `${whole.slice(0, maxLength - 1).toWellFormed()}…`;
}
