/** Framing of protocols without HTTP, and parsers of what readers ask. */
import assert from 'node:assert/strict';
import { configSchema } from '../../src/config/schema.ts';
import { decodeReadRequest } from '../../src/metrics/read-request.ts';
import { parseSelector } from '../../src/metrics/parse-promql.ts';
import { AppError } from '../../src/model/errors.ts';
import { createProtocols } from '../../src/service/protocols.ts';
import { readQuery } from '../../src/stream/plan.ts';
import { damageBytes } from './damage-bytes.ts';
import { journalEntries, journalWords, stepsOf } from './journal-entries.ts';
import * as metrics from './metric-requests.ts';
import { openProtocol } from './protocol-trial.ts';
import {
  expositionOf,
  framesOf,
  gelfFramesOf,
  gelfMessages,
  statsdLines,
  statsdWords,
  syslogMessages,
  syslogWords,
} from './socket-messages.ts';
import { ofProtobuf, ofText, type Subject } from './subject.ts';
import { stepWords, transformedLogs, transformLogs } from './transformed-logs.ts';
import { jsonWords, queryWords, textWords } from './words.ts';

const promText = createProtocols(configSchema.parse({})).find(({ name }) => name === 'prom_text')!;
const plainText = {
  mediaType: 'text/plain',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

const logQueries = [
  'service:checkout severity>=error (timeout OR "connection reset") -path:*health*',
  'status:[500 TO 599] NOT user:* host:(a OR b) message:/time(out|d)/',
] as const;

/** Parsers whose outcome is no batch. */
export const otherSubjects: readonly Subject[] = [
  {
    name: 'framing of syslog',
    ...ofText(syslogWords, syslogMessages),
    takesAnything: true,
    open: () => ({ feed: (input) => valueOf(() => framesOf(input)) }),
  },
  {
    name: 'framing of GELF',
    create: gelfMessages,
    damage: damageBytes,
    takesAnything: true,
    open: () => ({ feed: (input) => valueOf(() => gelfFramesOf(input)) }),
  },
  {
    name: 'statsd',
    ...ofText(statsdWords, statsdLines),
    takesAnything: true,
    open: () => {
      const pushed = openProtocol({ protocol: promText, format: plainText });
      return {
        async feed(input) {
          const text = expositionOf(input);
          const outcome = await pushed.feed(text);
          if (!(outcome instanceof AppError)) assert.equal(outcome.rejectedCount, 0);
          // The series that the trial refuses.
          else if (outcome.code !== 'quota_exceeded') throw outcome;
          return text;
        },
      };
    },
  },
  {
    name: 'steps of a journal',
    ...ofText(journalWords, journalEntries),
    open: () => ({ feed: (input) => valueOf(() => stepsOf(input)) }),
  },
  {
    name: 'remote_read',
    ...ofProtobuf(metrics.readRequest),
    open: () => ({ feed: (input) => valueOf(() => decodeReadRequest(input)) }),
  },
  {
    name: 'selector',
    ...ofText(textWords, metrics.selector),
    open: () => ({ feed: (input) => valueOf(() => parseSelector(input.toString(), 'match[]')) }),
  },
  {
    name: 'query of logs',
    ...ofText(queryWords, (random) => Buffer.from(random.pick(logQueries))),
    open: () => ({ feed: (input) => valueOf(() => readQuery(input.toString())) }),
  },
  {
    name: 'transform',
    ...ofText([...jsonWords, ...stepWords], transformedLogs),
    open: () => ({ feed: (input) => valueOf(() => transformLogs(input)) }),
  },
];

async function valueOf<T>(read: () => T | Promise<T>): Promise<T | AppError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === 'malformed') return error;
    throw error;
  }
}
