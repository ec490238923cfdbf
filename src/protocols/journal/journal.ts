/** The journal of systemd, as systemd-journal-upload sends it: entries without an end, in steps. */
import { z } from 'zod';
import { addCount, maxListedRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type {
  DecodeLimits,
  IngestDescription,
  Protocol,
  Reply,
  StepFormat,
} from '../../model/protocol.ts';
import { toSyslogWord } from '../../model/severity.ts';
import { EntrySteps, fieldOverheadBytes, type StepLimits } from './entry-steps.ts';
import { firstCursor, readEntry, skipEntries } from './export-format.ts';

/** Entries, their events as JSON, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const mediaType = 'application/vnd.fdo.journal';
const json = 'application/json';
const pieceBytes = 256 * 1024;
const kibibyte = 1024;
const largestStep = { bytes: 1024 * kibibyte, entries: 5000 };
const maxFieldBytes = 256 * kibibyte;
/** Well below the timeout of a body, for links on which a step takes longer. */
const stepMs = 5000;
/** More would reject the event. */
const maxLabels = 1000;

const cutWarning = 'a field or an entry that is too long: cut';

const description: IngestDescription = {
  operationId: 'uploadJournal',
  summary: 'Upload a journal of systemd',
  details:
    'Accepts what `systemd-journal-upload` sends: entries in the Journal Export Format, of any ' +
    'number. They are stored in steps while they arrive; entries with a `__CURSOR` that are sent ' +
    'again are stored once. `MESSAGE`, `PRIORITY`, `_HOSTNAME`, `SYSLOG_IDENTIFIER` (else ' +
    '`_SYSTEMD_UNIT`) and `__REALTIME_TIMESTAMP` fill the fields of a log, the others become ' +
    'labels. The token may be the password of `Authorization: Basic`, with any user.',
  request: { [mediaType]: { schema: z.string() } },
  answers: {
    200: {
      description: 'All entries are durable.',
      content: {
        [json]: {
          schema: z.looseObject({ accepted: z.int() }),
          examples: { all: { accepted: 2 } },
        },
      },
    },
  },
};

/** Decodes JSON events, one in each line. @param pieces each of whole lines */
export type DecodeEvents = (
  pieces: Iterator<Buffer>,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

export function createJournal({ ingest }: Config, decodeEvents: DecodeEvents): Protocol {
  const { jsonMaxBodyBytes: maxBodyBytes, jsonMaxEvents, jsonMaxDepth } = ingest;
  // A step may exceed its bytes by an entry, and both by their names.
  const bytes = Math.min(largestStep.bytes, Math.ceil(maxBodyBytes / 4));
  const limits: StepLimits = {
    bytes,
    entries: Math.min(largestStep.entries, jsonMaxEvents),
    elapsedMs: stepMs,
    fieldBytes: Math.min(maxFieldBytes, bytes),
    entryBytes: bytes,
  };
  const steps: StepFormat = {
    open: () => new EntrySteps(limits, () => performance.now()),
    keyOf: (step) => toKey(firstCursor(step)),
    skip: skipEntries,
    reply: toReply,
    countOf: ({ body }) => (JSON.parse(body.toString()) as { accepted: number }).accepted,
  };
  return {
    name: 'journal',
    kind: 'http_json',
    http: { path: 'journal/upload', description },
    tokenPlace: 'basic',
    mediaTypes: [{ name: mediaType }],
    codings: ['identity'],
    maxBodyBytes,
    steps,
    limits: {
      maxEvents: jsonMaxEvents,
      maxDepth: jsonMaxDepth,
      maxRejections: maxListedRejections,
    },
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxBodyBytes, inflated: maxBodyBytes }),
    async decode(body, _format, context) {
      const warnings = new Map<string, number>();
      const batch = await decodeEvents(eachPiece(body, limits, warnings), context.limits);
      for (const [reason, count] of batch.warnings ?? []) addCount(warnings, reason, count);
      return { ...batch, warnings };
    },
    reply: ({ rows }) => toReply(rows),
  };
}

function toKey(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : `journal:${cursor}`;
}

function toReply(accepted: number): Reply {
  return { status: 200, contentType: json, body: JSON.stringify({ accepted }) };
}

function* eachPiece(
  body: Buffer,
  limits: StepLimits,
  warnings: Map<string, number>,
): Generator<Buffer> {
  let lines: string[] = [];
  let size = 0;
  for (let at = 0; at < body.length; ) {
    const entry = new Entry(body);
    at = readEntry(body, at, entry.take);
    if (entry.bytes === 0) break;
    const isCut = entry.longest >= limits.fieldBytes || entry.bytes >= limits.entryBytes;
    if (isCut || entry.isCut) addCount(warnings, cutWarning);
    const line = JSON.stringify(entry.toEvent());
    lines.push(line, '\n');
    size += line.length;
    if (size < pieceBytes) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    size = 0;
  }
  yield Buffer.from(lines.join(''));
}

/** Fields that fill columns. */
const columns: ReadonlySet<string> = new Set([
  'MESSAGE',
  'PRIORITY',
  'SYSLOG_IDENTIFIER',
  '_HOSTNAME',
  '__REALTIME_TIMESTAMP',
]);
/** Other fields of this prefix are addresses within the journal. */
const addressPrefix = '__';

/** The fields of an entry. A name may repeat: of columns the first counts, labels become lists. */
class Entry {
  bytes = 0;
  /** Bytes of the longest value. */
  longest = 0;
  /** It has too many labels. */
  isCut = false;
  readonly #body: Buffer;
  readonly #columns = new Map<string, string>();
  readonly #labels = new Map<string, string | string[]>();

  constructor(body: Buffer) {
    this.#body = body;
  }

  readonly take = (name: string, start: number, end: number): void => {
    this.bytes += name.length + fieldOverheadBytes + end - start;
    this.longest = Math.max(this.longest, end - start);
    const isColumn = columns.has(name);
    if (isColumn ? this.#columns.has(name) : name.startsWith(addressPrefix)) return;
    const value = this.#body.toString('utf8', start, end);
    if (isColumn) return void this.#columns.set(name, value);
    const earlier = this.#labels.get(name);
    if (earlier === undefined && this.#labels.size >= maxLabels) {
      this.isCut = true;
      return;
    }
    if (Array.isArray(earlier)) earlier.push(value);
    else this.#labels.set(name, earlier === undefined ? value : [earlier, value]);
  };

  toEvent(): object {
    const priority = this.#columns.get('PRIORITY');
    const unit = this.#labels.get('_SYSTEMD_UNIT');
    return {
      message: this.#columns.get('MESSAGE') ?? '',
      severity: priority === undefined ? undefined : toSyslogWord(priority),
      service_name:
        this.#columns.get('SYSLOG_IDENTIFIER') ?? (typeof unit === 'string' ? unit : undefined),
      host: this.#columns.get('_HOSTNAME'),
      timestamp: this.#columns.get('__REALTIME_TIMESTAMP'),
      labels: Object.fromEntries(this.#labels),
    };
  }
}
