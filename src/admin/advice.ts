/** Advice for operators on how to prevent a refusal: one sentence for each reason. */
import type { IngestErrorCode } from '../model/errors.ts';
import type { ReasonKind } from '../model/receiver-statistics.ts';

/** @param reason of `ReceiverSample` */
export function toAdvice(kind: ReasonKind, reason: string): string {
  if (kind === 'request') return requestAdvice[reason as IngestErrorCode] ?? generalAdvice;
  return recordPatterns.find(([pattern]) => pattern.test(reason))?.[1] ?? generalAdvice;
}

/** For reasons recorded by other versions of Weir. */
export const generalAdvice =
  'Read the detail of the last samples: it is the message that the sender received.';

const requestAdvice: Readonly<Record<IngestErrorCode, string>> = {
  malformed:
    'The body or a header violates the protocol, or the body was cut off: the detail names the ' +
    'place; compare the request with one that works.',
  unauthenticated:
    'The token is missing, unknown, expired or revoked: create a new one for this receiver and ' +
    'send it as Authorization: Bearer <token>, exactly once.',
  forbidden:
    'The token is valid, but it belongs to another receiver or lacks ingest:write, or the ' +
    'receiver is inactive, of another kind, or does not allow the address: see the detail.',
  not_found: 'The URL has no receiver or no route: use the URL exactly as the receiver shows it.',
  method_not_allowed: 'Data is accepted with POST only: set it as the method of the sender.',
  conflict: 'The request conflicted with a concurrent one: send it again.',
  too_large:
    'The body or its number of records exceeds a limit: configure smaller batches in the sender, ' +
    'or raise the limit that the detail names.',
  unsupported_media:
    'The route does not accept this Content-Type or Content-Encoding: use one that the detail ' +
    'lists.',
  quota_exceeded:
    'The sender exceeded the limits of the receiver or its account: raise the limit that the ' +
    'detail names, or send less; a sender that honors Retry-After loses no data.',
  timeout:
    'The body did not arrive in time: check the network between the sender and Weir, or send ' +
    'smaller batches; the limits are ingest.bodyTimeoutMs and ingest.minBodyBytesPerSecond.',
  unavailable:
    'Weir could not accept the request at that time, and senders retry: if it continues, check ' +
    'the disk, the queue and the memory of Weir.',
  internal: 'An internal error of Weir: its log has the cause; the sender may retry.',
};

/** By a pattern of the whole reason: some contain a limit. */
const recordAdvice: Readonly<Record<string, string>> = {
  '(message|short_message|event) is missing':
    'Send a message with each event, as message or another field that the manual lists under ' +
    'JSON logs; it may be empty.',
  '(message|short_message|severity|service_name|service_namespace|host) is not a string':
    'Send this field as text; send numbers and objects as labels.',
  'labels is not an object': 'Send labels as a single object of keys and values.',
  'more than \\d+ labels': 'Send fewer labels and other top-level keys with an event.',
  'the (event|document) is not an object':
    'Send objects in the array, with a line of text as the message of one.',
  'not JSON': 'The sample has the line and the byte: write each event as one JSON object.',
  'only create and index are taken.*':
    'Set the action of the sender to create or index: stored logs are not changed.',
  'dropped by the transform': 'A step of the transform drops these logs; no action is needed.',
  'left out by sampling': 'The transform keeps a share of the logs; no action is needed.',
  redacted: 'The transform replaced secrets: better keep them out of the logs at the source.',
  'message not parsed':
    'The transform expects another format, or the message is over 256 KiB: preview it with logs ' +
    'of this receiver.',
  'fields beyond the limit left out':
    'A step of the transform added more than 256 labels to a log, or one over 64 KiB: remove some.',
  illegal_argument_exception:
    'Send index and create actions to the bulk API: Weir does not change or delete stored logs.',
  'unreadable time: .*':
    'Send the time in RFC 3339, or as seconds or milliseconds since 1970; the text as sent is a ' +
    'label of the event.',
  'the record takes more than \\d+ bytes': 'Shorten the body or the attributes of the log record.',
  'the record has more than \\d+ elements in arrays and maps':
    'Send fewer or flatter attributes with the log record.',
  'no metric name':
    'Send each series with the label __name__, which a relabelling rule may have dropped; the ' +
    'name of an OTLP metric needs a letter or a digit.',
  'too many labels': 'Drop labels of the series by relabelling, or raise metrics.maxLabels.',
  'empty label name': 'Send a name with each label; a relabelling rule may have made it empty.',
  'repeated label name': 'Send each label of a series once; check which rule adds it twice.',
  'label name too long':
    'Shorten the name of the label by relabelling, or raise metrics.maxLabelNameLength.',
  'label value too long':
    'Shorten the value of the label by relabelling, or raise metrics.maxLabelValueLength.',
  'bad histogram':
    'The histogram is inconsistent or too large, as the detail says: update the sender, or send ' +
    'classic buckets.',
  'neither cumulative nor delta':
    'Send sums and histograms with the temporality cumulative, the default of the SDKs.',
  'delta point older than the last of its series':
    'Give each sender its own service.instance.id and send in order, or send cumulative points.',
  'data point without a value':
    'Send each point with as_double or as_int, or with the flag that it has no recorded value.',
  'data point too large':
    'Send fewer attributes, buckets or exemplars with a point: a view of the SDK selects them.',
  'too many (buckets|quantiles)':
    'Configure fewer bounds in the sender, or exponential histograms: each bound is a series.',
  'delta points that overlap in time, added up':
    'Several senders report one series: give each a different service.instance.id.',
  'data point without a time, stored at the time of receipt':
    'Send each point with time_unix_nano, so that a repeated one is stored once.',
  'attribute key that cannot name a label':
    'Rename the attribute in the sender: its key needs a letter or a digit.',
  'bad exemplar':
    'The labels of the exemplar cannot be stored: update the sender, or send no exemplars.',
  '(no fields|no measurement|a tag without a value|unreadable (time|field|value))':
    'The sample has the line: check it against the line protocol, and precision against its times.',
  'text field: .*': 'Store numbers and booleans as metrics; send texts as logs.',
  'series limit':
    'The account has reached its limit of series per day: drop labels with frequently changing ' +
    'values, or raise metrics.maxSeriesPerAccount.',
};

const recordPatterns = Object.entries(recordAdvice).map(
  ([pattern, advice]) => [new RegExp(`^(?:${pattern})$`, 's'), advice] as const,
);
