/**
 * What a person can change so that a refusal does not come again: one sentence for each reason that
 * statistics of receivers name. Pure.
 */
import type { ErrorCode } from '../model/errors.ts';
import type { RefusalKind } from '../model/receiver-statistics.ts';

/** @param reason of `ReceiverSample` */
export function toAdvice(kind: RefusalKind, reason: string): string {
  if (kind === 'request') return requestAdvice[reason as ErrorCode] ?? generalAdvice;
  return recordAdvice.find(([pattern]) => pattern.test(reason))?.[1] ?? generalAdvice;
}

/** For a reason that another version has written. */
export const generalAdvice = 'Read the detail of the last samples: it is what the sender was told.';

const requestAdvice: Readonly<Record<ErrorCode, string>> = {
  malformed:
    'The body, or a header, is not what the protocol says, or it broke off on its way: the ' +
    'detail names the place; compare it with a request that works.',
  unauthenticated:
    'The token is missing, unknown, expired or revoked: issue a new one for this receiver and ' +
    'set it as Authorization: Bearer <token>, exactly once.',
  forbidden:
    'The token is in force but does not fit: it belongs to another receiver or lacks ' +
    'ingest:write, or the receiver is switched off, of another kind, or closed to the address; ' +
    'the detail tells which.',
  not_found: 'The URL names no receiver or no route: use the URL exactly as the receiver shows it.',
  method_not_allowed: 'Data is sent with POST: set it as the method of the sender.',
  conflict: 'Another request was in the way: send this one again.',
  too_large:
    'The body, or the number of its records, is over a limit: make the batches of the sender ' +
    'smaller, or raise the limit that the detail names.',
  unsupported_media:
    'The route does not take this Content-Type or Content-Encoding: set those that the detail ' +
    'lists, and no others.',
  quota_exceeded:
    'More came than the limits of the receiver or its account allow: raise the limit that the ' +
    'detail names, or send less; senders that wait for Retry-After lose nothing.',
  timeout:
    'The body did not come in time: look at the network between sender and Weir, or send smaller ' +
    'batches; ingest.bodyTimeoutMs and ingest.minBodyBytesPerSecond say how slow is too slow.',
  unavailable:
    'Weir could not take it at that moment: senders try again by themselves; where it goes on, ' +
    'look at the disk, the queue and the memory of Weir.',
  internal:
    'Weir failed, not the sender: its log has the cause; the sender may send the request again.',
};

/** Reasons that name a limit are found by what stands around it. */
const recordAdvice: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/^message is missing$/, 'Give each event a message; it may be empty, and msg or event will do.'],
  [
    /^(message|severity|service_name|service_namespace|host) is not a string$/,
    'Send this field as text; numbers and objects belong into labels.',
  ],
  [/^labels is not an object$/, 'Send labels as one object of keys and values.'],
  [/^more than \d+ labels$/, 'Send fewer labels and other top-level keys with an event.'],
  [
    /^the event is not an object$/,
    'Send objects in the array: a line of text goes into the message of one.',
  ],
  [
    /^the record takes more than \d+ bytes$/,
    'Cut the body or the attributes of the log record; large texts are better kept elsewhere.',
  ],
  [
    /^the record has more than \d+ elements in arrays and maps$/,
    'Send fewer or flatter attributes with the log record.',
  ],
  [/^no metric name$/, 'Give each series the label __name__; a relabelling may have dropped it.'],
  [/^too many labels$/, 'Drop labels from the series by relabelling, or raise metrics.maxLabels.'],
  [/^empty label name$/, 'Give each label a name; a relabelling may have made an empty one.'],
  [/^repeated label name$/, 'Send each label of a series once; look at what adds labels twice.'],
  [
    /^label name too long$/,
    'Shorten the name of the label by relabelling, or raise metrics.maxLabelNameLength.',
  ],
  [
    /^label value too long$/,
    'Shorten the value of the label by relabelling, or raise metrics.maxLabelValueLength.',
  ],
  [
    /^bad histogram$/,
    'The native histogram contradicts itself or is too large: update the sender, or send classic ' +
      'buckets.',
  ],
  [
    /^bad exemplar$/,
    'The labels of the exemplar cannot be kept: update the sender, or send no exemplars.',
  ],
  [
    /^series limit$/,
    'The account has as many series as it may have in a day: drop labels that change all the ' +
      'time, or raise metrics.maxSeriesPerAccount.',
  ],
];
