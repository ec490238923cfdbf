/** Syslog messages of a connection or of datagrams, as a body of octet-counted messages. */
import { addCount, maxListedRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits, Protocol } from '../../model/protocol.ts';
import { toSyslogWord } from '../../model/severity.ts';
import { splitFrames } from './frames.ts';
import { readMessage, type ReadOptions, type SyslogMessage } from './header.ts';
import { TimeZone } from './local-time.ts';

/** Messages, their events as JSON, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const pieceBytes = 256 * 1024;
const mebibyte = 1024 * 1024;

const syslogWarnings = {
  text: 'no syslog header: kept as text',
  cut: 'longer than syslog.maxMessageBytes: cut',
} as const;

/** Decodes JSON events, one in each line. @param pieces each of whole lines */
export type DecodeEvents = (
  pieces: Iterator<Buffer>,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

export function createSyslog({ syslog, ingest }: Config, decodeEvents: DecodeEvents): Protocol {
  const { maxMessageBytes } = syslog;
  const zone = new TimeZone(syslog.timeZone);
  const maxBodyBytes = Math.max(4 * mebibyte, 2 * maxMessageBytes);
  return {
    name: 'syslog',
    kind: 'http_json',
    http: undefined,
    mediaTypes: [{ name: 'application/syslog' }],
    codings: ['identity'],
    maxBodyBytes,
    limits: {
      maxEvents: ingest.jsonMaxEvents,
      maxDepth: ingest.jsonMaxDepth,
      maxRejections: maxListedRejections,
    },
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxBodyBytes, inflated: maxBodyBytes }),
    async decode(body, _format, { limits, nowMs }) {
      const warnings = new Map<string, number>();
      const pieces = eachPiece(body, { nowMs, zone, maxMessageBytes, warnings });
      const batch = await decodeEvents(pieces, limits);
      for (const [reason, count] of batch.warnings ?? []) addCount(warnings, reason, count);
      return { ...batch, warnings };
    },
    reply: () => ({ status: 204, contentType: undefined, body: '' }),
  };
}

interface PieceOptions extends ReadOptions {
  readonly maxMessageBytes: number;
  readonly warnings: Map<string, number>;
}

function* eachPiece(body: Buffer, options: PieceOptions): Generator<Buffer> {
  let lines: string[] = [];
  let size = 0;
  for (const frame of splitFrames(body)) {
    const line = JSON.stringify(toEvent(frame, options));
    lines.push(line, '\n');
    size += line.length;
    if (size < pieceBytes) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    size = 0;
  }
  yield Buffer.from(lines.join(''));
}

function toEvent(frame: Buffer, { maxMessageBytes, warnings, ...options }: PieceOptions): object {
  const isCut = frame.length > maxMessageBytes;
  if (isCut) addCount(warnings, syslogWarnings.cut);
  const text = frame.toString('utf8', 0, Math.min(frame.length, maxMessageBytes));
  const message = readMessage(text.replace(/[\0\r\n]+$/, ''), options);
  if (!message.hasHeader) addCount(warnings, syslogWarnings.text);
  return {
    message: message.message.toWellFormed(),
    severity: message.severity === undefined ? undefined : toSyslogWord(String(message.severity)),
    service_name: message.app,
    host: message.host,
    timestamp: message.time,
    labels: labelsOf(message),
  };
}

function labelsOf({ facility, procId, msgId, data }: SyslogMessage): Record<string, unknown> {
  return Object.fromEntries([
    ...Object.entries({ facility, procid: procId, msgid: msgId }),
    ...(data ?? []),
  ]);
}
