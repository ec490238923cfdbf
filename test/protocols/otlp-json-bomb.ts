/**
 * Decodes one hostile OTLP JSON body, named on the command line, in a separate process, and prints
 * the growth of memory.
 */
import { createLogsDecoder, readJsonLogs } from '../../src/protocols/otlp/otlp-logs.ts';
import { AppError } from '../../src/model/errors.ts';

/** Output of the process. */
export interface BombReport {
  readonly bodyBytes: number;
  readonly grownBytes: number;
  /** Rows, or the code of the error. */
  readonly outcome: number | string;
}

const mebibyte = 1024 * 1024;
const levels = 64;

const repeat = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));
const record = (json: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${json}]}]}]}`;
const oneRecord = '{"scopeLogs":[{"logRecords":[{}]}]}';
const nested = '{"kvlistValue":{"values":[{"value":';

export const bombs = {
  'resources without records': () => `{"resourceLogs":[${repeat('{},', 8 * mebibyte)}{}]}`,
  'resources of one record': () => `{"resourceLogs":[${repeat(`${oneRecord},`, 6 * mebibyte)}{}]}`,
  'empty values': () =>
    record(`{"body":{"arrayValue":{"values":[${repeat('{},', 8 * mebibyte)}{}]}}}`),
  'a resource that is repeated in each row': () =>
    `{"resourceLogs":[{"resource":{"attributes":[{"key":"${repeat('x', 4 * mebibyte)}"}]},` +
    `"scopeLogs":[{"logRecords":[${repeat('{},', 100_000)}{}]}]}]}`,
  'keys behind nested values': () =>
    record(
      `{"body":${nested.repeat(levels)}{"stringValue":"${repeat('x', 8 * mebibyte)}"}` +
        `${',"key":"k"}]}}'.repeat(levels)}}`,
    ),
  'keys again and again': () =>
    record(
      `{"body":{"kvlistValue":{"values":[{"value":{"stringValue":"${repeat('x', 4 * mebibyte)}"}` +
        `${repeat(',"key":"k"', 4 * mebibyte)}}]}}}`,
    ),
  'attributes with escapes': () =>
    record(
      `{"attributes":[${repeat('{"key":"\\n","value":{"stringValue":"\\n"}},', 8 * mebibyte)}{}]}`,
    ),
  'bytes that are no text': () => `{"a":"${repeat('\x80', 8 * mebibyte)}"}`,
} as const satisfies Record<string, () => string>;

export type BombName = keyof typeof bombs;

if (import.meta.main) {
  const body = Buffer.from(bombs[process.argv[2] as BombName](), 'latin1');
  const limits = { maxEvents: 200_000, maxDepth: levels, maxRejections: 3 };
  const before = process.resourceUsage().maxRSS;
  let outcome: number | string;
  try {
    outcome = (await createLogsDecoder()(body, readJsonLogs, limits)).rows;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    outcome = error.code;
  }
  const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
  const report: BombReport = { bodyBytes: body.length, grownBytes, outcome };
  process.stdout.write(JSON.stringify(report));
}
