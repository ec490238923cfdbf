/**
 * Parameters of Prometheus' HTTP API, and `streamId`. Unknown parameters are ignored, since stock
 * clients send some for other servers. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api
 */
import { z } from 'zod';
import { parseAnyRfc3339 } from '../codec/event-time.ts';
import { parseDuration } from '../promql/parser/numbers.ts';
import { decimal } from '../std/decimal.ts';
import { integer, list, parsed, uuid, withQuery } from '../std/parse-query.ts';

/** Unix ms. */
function requiredTime(description: string) {
  return parsed(parseMetricTime, 'a time: Unix seconds, or RFC 3339').meta({
    description,
    example: '2026-04-01T08:30:00Z',
  });
}

function unixTime(description: string) {
  return requiredTime(description).optional();
}

/** Nine digits, as `integer` reads. */
const highestLimit = 999_999_999;

/** As with Prometheus, 0 = no limit, and of metadata each negative number. */
function limit(description: string, min = 0) {
  return integer(min, highestLimit, description).optional();
}

const streamId = list(
  uuid,
  'Stream to read; default: all of the account. Repeated: any of them.',
  Infinity,
);

const selector = z.string().meta({ example: 'up{job="api"}' });

const range = {
  start: unixTime('Earliest time of a sample; default: a day before the end.'),
  end: unixTime('Latest time of a sample; default: now.'),
};

export const seriesQuery = z.object({
  'match[]': list(selector, 'Series selector. Repeated: series that match any of them.', Infinity),
  ...range,
  limit: limit('Maximum number of results; 0 or absent = the limit of the service.'),
  streamId,
});

export const metadataQuery = z.object({
  metric: z.string().optional().describe('One metric; default: all.'),
  limit: limit(
    'Maximum number of metrics; not positive or absent = the limit of the service.',
    -highestLimit,
  ),
  limit_per_metric: limit(
    'Maximum number of entries per metric; not positive or absent = all.',
    -highestLimit,
  ),
  streamId,
});

export const exemplarsQuery = z.object({
  query: selector.describe('An expression: its selectors select the series.'),
  ...range,
  streamId,
});

/** Milliseconds from seconds or a duration such as 1m30s. */
function milliseconds(description: string) {
  return parsed(parseMillis, 'a duration: seconds, or such as 1m30s').meta({
    description,
    example: '15s',
  });
}

const queryOptions = {
  query: z.string().meta({ description: 'The expression.', example: 'rate(requests_total[5m])' }),
  timeout: milliseconds('Time limit, at most that of the service.').optional(),
  limit: limit('Maximum number of series; 0 or absent = all.'),
  lookback_delta: milliseconds('How long a sample stays valid; default: 5m.').optional(),
  stats: z.string().optional().describe('`true`: with statistics; `all`: also of each step.'),
  streamId,
};

export const instantQuery = z.object({
  ...queryOptions,
  time: unixTime('Time of evaluation; default: now.'),
});

export const rangeQuery = z.object({
  ...queryOptions,
  start: requiredTime('First step.'),
  end: requiredTime('Last step, if a whole number of steps after the first.'),
  step: milliseconds('Time between steps.'),
});

export const expressionQuery = z.object({ query: queryOptions.query });

export type QueryOptions = Pick<
  z.output<typeof instantQuery>,
  'query' | 'timeout' | 'limit' | 'lookback_delta' | 'stats' | 'streamId'
>;

export const statusQuery = z.object({
  limit: integer(1, highestLimit, 'Entries of each list; default: 10.').optional(),
});

export const noQuery = z.object({});

export const labelParams = z.object({
  name: z.string().meta({
    description: 'Name of the label; escaped with U__ unless it is a plain word.',
    example: '__name__',
  }),
});

/** Of these an empty value is a fault; of others it is an absent one, as with Prometheus. */
const neverEmpty: readonly string[] = ['query', 'streamId'];

function isAbsent(name: string, value: string): boolean {
  return value === '' && !name.endsWith('[]') && !neverEmpty.includes(name);
}

/** Like `withQuery`, for parameters of Prometheus' API. */
export const withMetricQuery: typeof withQuery = (query, read) => withQuery(query, read, isAbsent);

export type SeriesQuery = z.output<typeof seriesQuery>;
export type MetadataQuery = z.output<typeof metadataQuery>;
export type ExemplarsQuery = z.output<typeof exemplarsQuery>;

const lowest = -(2n ** 63n);
const highest = 2n ** 63n - 1n;

/** The bounds that Prometheus' own client sends for "all time". */
const bounds: Readonly<Record<string, bigint>> = {
  '-292273086-05-16T16:47:06Z': lowest,
  '292277025-08-18T07:12:54.999999999Z': highest,
};

/**
 * Unix seconds with any fraction, or RFC 3339, where a space that a query string made of `+` is
 * accepted.
 * @returns Unix ms within Int64; undefined for any other text.
 */
export function parseMetricTime(text: string): bigint | undefined {
  if (Object.hasOwn(bounds, text)) return bounds[text];
  if (decimal.test(text)) return toMillis(Number(text));
  const bytes = Buffer.from(text.replace(/ (\d\d:\d\d)$/, '+$1'), 'latin1');
  const time = parseAnyRfc3339(bytes, 0, bytes.length);
  return time && BigInt(time.millis);
}

function parseMillis(text: string): number | undefined {
  const duration = parseDuration(text);
  if (duration !== undefined) return Math.round(duration * 1000);
  // As Prometheus, which computes in nanoseconds and cuts off parts of a millisecond.
  return decimal.test(text) ? Math.trunc(Math.trunc(Number(text) * 1e9) / 1e6) : undefined;
}

function toMillis(unixSeconds: number): bigint {
  const millis = Math.round(unixSeconds * 1000);
  if (millis >= Number(highest)) return highest;
  return millis <= Number(lowest) ? lowest : BigInt(millis);
}

const escapePrefix = 'U__';
/** `__` is an underscore, `_2e_` the code point U+002E. */
const escapeSequence = /_(?:_|([0-9a-f]{1,6})_)/iy;
const plainText = /[^_]+/y;

/**
 * Prometheus 3 escapes label names in a path that are not plain words.
 * https://github.com/prometheus/proposals/blob/main/proposals/2023-08-21-utf8.md
 * @returns the unescaped name; the text itself where it is not escaped.
 */
export function unescapeLabelName(text: string): string {
  if (!text.startsWith(escapePrefix)) return text;
  let name = '';
  for (let at = escapePrefix.length; at < text.length; ) {
    const [token, hex] = match(escapeSequence, text, at) ?? match(plainText, text, at) ?? [];
    if (token === undefined) return text;
    if (!token.startsWith('_')) name += token;
    else if (hex === undefined) name += '_';
    else {
      const point = Number.parseInt(hex, 16);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return text;
      name += String.fromCodePoint(point);
    }
    at += token.length;
  }
  return name;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
