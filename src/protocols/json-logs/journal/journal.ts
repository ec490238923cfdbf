/** The journal of systemd, as systemd-journal-upload sends it: entries without an end, in steps. */
import { z } from 'zod';
import type { Config } from '../../../config/schema.ts';
import type { IngestDescription, Protocol, Reply, StepFormat } from '../../../model/protocol.ts';
import { createEventsDecoder } from '../decode-events.ts';
import { acceptedAnswer, eventProtocol } from '../event-protocol.ts';
import { openEntries } from './entries.ts';
import { EntrySteps, type StepLimits } from './entry-steps.ts';
import { firstCursor, lastEntry, skipEntries } from './export-format.ts';

/** Entries, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const mediaType = 'application/vnd.fdo.journal';
const json = 'application/json';
const kibibyte = 1024;
const largestStep = { bytes: 1024 * kibibyte, entries: 5000 };
const maxFieldBytes = 256 * kibibyte;
/** Well below the timeout of a body, for links on which a step takes longer. */
const stepMs = 5000;

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
    200: acceptedAnswer('All entries are durable.', 2),
  },
};

export function createJournal(config: Config): Protocol {
  const { jsonMaxBodyBytes: maxBodyBytes, jsonMaxEvents } = config.ingest;
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
    lastOf: lastEntry,
    reply: toReply,
    countOf: ({ body }) => (JSON.parse(body.toString()) as { accepted: number }).accepted,
  };
  const decode = createEventsDecoder(openEntries);
  return {
    ...eventProtocol(config),
    name: 'journal',
    http: { path: 'journal/upload', description },
    tokenPlace: 'basic',
    mediaTypes: [{ name: mediaType }],
    codings: ['identity'],
    steps,
    heapBytesPerBodyByte,
    decode: (body, _format, context) => decode({ body, limits }, context.limits),
    reply: ({ rows }) => toReply(rows),
  };
}

function toKey(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : `journal:${cursor}`;
}

function toReply(accepted: number): Reply {
  return { status: 200, contentType: json, body: JSON.stringify({ accepted }) };
}
