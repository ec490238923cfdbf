/**
 * What is kept of a refusal, as a value fit to be shown to whoever manages the receiver: neither a
 * secret nor anything of a body is in it. Pure.
 */
import type { Batch } from '../model/batch.ts';
import { AppError, type ErrorCode, errorTable } from '../model/errors.ts';
import type { ReceiverSample } from '../model/receiver-statistics.ts';
import type { IngestHead } from './ingest.ts';

/** What is known of who sends; it grows as the request is admitted. */
export interface Sender {
  /** Undefined until it is known where to the request goes. */
  receiverId: string | undefined;
  /** Undefined until the token is known to be one of the receiver's account. */
  tokenId: string | undefined;
  readonly peerAddress: string;
  readonly contentType: string | undefined;
  readonly declaredBytes: number | undefined;
}

const maxDetailLength = 500;
const maxContentTypeLength = 100;
/** Rejected records of one request that become samples. */
const maxRecordSamples = 3;
/** Their messages quote nothing but headers, and those help to find the fault. */
const quoteNoBody: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'forbidden',
  'unsupported_media',
]);

export function toSender({ receiverId, headers, peerAddress }: IngestHead): Sender {
  return {
    receiverId,
    tokenId: undefined,
    peerAddress,
    contentType: headers.contentType[0],
    declaredBytes: headers.contentLength,
  };
}

/** @param fault AppError; anything else is a bug, of which nothing is shown */
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

/** The first rejections of a request that was taken. @param status of its answer */
export function toRecordSamples(
  sender: Sender,
  taken: { readonly batch: Batch; readonly bodyBytes: number; readonly status: number },
  at: string,
): ReceiverSample[] {
  const { batch, bodyBytes, status } = taken;
  return batch.rejected.slice(0, maxRecordSamples).map(({ index, reason: told }) => {
    const reason = toFixedReason(told, batch.rejectedByReason);
    return {
      at,
      kind: 'record',
      reason,
      status,
      detail: toDetail(`cannot take the record at index ${index}: ${reason}`),
      ...toOrigin(sender, bodyBytes),
    };
  });
}

/** Some senders are told an example of what is wrong after the word for it. */
function toFixedReason(told: string, counted: ReadonlyMap<string, number>): string {
  if (counted.has(told)) return told;
  return [...counted.keys()].find((word) => told.startsWith(`${word}: `)) ?? 'rejected';
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

/**
 * What messages of ours put into double quotes; a quote that stands alone is in single ones, or
 * escaped.
 */
const ownWords: ReadonlySet<string> = new Set([
  `'"'`,
  '\\"',
  '"# EOF"',
  '"le"',
  '"quantile"',
  '"+Inf"',
]);

/** Text in double quotes is left out, one that is never closed to its end. */
function withoutQuotes(message: string): string {
  return message.replace(/'"'|\\"|"(?:[^"\\]|\\.)*(?:"|$)/gsu, (quoted) =>
    ownWords.has(quoted) ? quoted : '"…"',
  );
}

/** A secret in the wrong header is still a secret. */
function masked(text: string): string {
  return text.replace(/(wr[ia]_)[\w.~+/=-]*/gi, '$1…');
}

function cut(text: string, maxLength: number): string {
  const whole = text.toWellFormed();
  return whole.length <= maxLength ? whole : `${whole.slice(0, maxLength - 1).toWellFormed()}…`;
}
