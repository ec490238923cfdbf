/** Helpers that send metrics to the first run's receiver and read them back. */
import assert from 'node:assert/strict';
import { compressSync, uncompressSync } from 'snappy';
import type { Answer, Exchange } from './http.ts';
import {
  decodeReadResponse,
  encodeReadRequest,
  encodeWriteRequest,
  type Labels,
  type Matcher,
  type Metadata,
  type ReadQuery,
  type SeriesSamples,
  toNumber,
  type WrittenSeries,
} from './prompb.ts';
import type { Service } from './service.ts';

type Headers = Readonly<Record<string, string>>;

/** Posts an exposition, by default as text 0.0.4. */
export function pushText(service: Service, text: string, headers: Headers = {}): Promise<Answer> {
  const { pushUrl, token } = service.quickstart.receivers.prometheus;
  return service.http.send(pushUrl, {
    method: 'POST',
    body: text,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'text/plain; version=0.0.4',
      ...headers,
    },
  });
}

/** Posts series (and metadata) as remote_write v1. */
export function remoteWrite(
  service: Service,
  series: readonly WrittenSeries[],
  metadata: readonly Metadata[] = [],
): Promise<Answer> {
  return postWriteRequest(service, encodeWriteRequest(series, metadata));
}

/** Posts encoded bytes of a `WriteRequest`. */
export function postWriteRequest(
  service: Service,
  message: Buffer,
  headers: Headers = {},
): Promise<Answer> {
  const { writeUrl, token } = service.quickstart.receivers.prometheus;
  return service.http.send(writeUrl, {
    method: 'POST',
    body: compressSync(message),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
      ...headers,
    },
  });
}

/** Base URL of `api/v1/read`, `api/v1/labels` …. */
export function prometheusBaseUrl({ quickstart }: Service): string {
  return `${quickstart.streamUrl}/api/v1/prometheus`;
}

/** Sends a `ReadRequest` with the first run's access token. */
export function postRead(
  service: Service,
  queries: readonly ReadQuery[],
  headers: Headers = {},
): Promise<Answer> {
  const { accessToken, accountId } = service.quickstart;
  const access = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
  const url = `${prometheusBaseUrl(service)}/api/v1/read`;
  return service.http.send(url, toReadExchange(queries, { ...access, ...headers }));
}

/** Sends a remote_read request to any server. */
export function toReadExchange(queries: readonly ReadQuery[], headers: Headers = {}): Exchange {
  return {
    method: 'POST',
    body: compressSync(encodeReadRequest(queries)),
    headers: {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-read-version': '0.1.0',
      ...headers,
    },
  };
}

/**
 * Decodes its response: one list of series per query.
 * @throws AssertionError for an invalid response
 */
export function fromReadAnswer(answer: Answer): SeriesSamples[][] {
  assert.equal(answer.status, 200, answer.text);
  return decodeReadResponse(Buffer.from(uncompressSync(answer.bytes) as Buffer));
}

/** Prometheus requires at least one matcher. */
export const everySeries: readonly Matcher[] = [{ name: '__name__', type: '!=', value: '' }];

/** A range around everything that tests send. */
const ever = { fromMs: 0, untilMs: 4_102_444_800_000 };

/** Reads matching series by remote_read. @param matchers all series if empty. */
export async function readMetrics(
  service: Service,
  matchers: readonly Matcher[] | Labels = [],
  range: { readonly fromMs: number; readonly untilMs: number } = ever,
): Promise<SeriesSamples[]> {
  const list = isList(matchers) ? matchers : toMatchers(matchers);
  const query = { matchers: list.length === 0 ? everySeries : list, ...range };
  const [series] = fromReadAnswer(await postRead(service, [query]));
  return series ?? [];
}

/** Times (Unix ms) and values of the only series with these labels; empty if there is none. */
export async function readSamples(
  service: Service,
  labels: Labels,
): Promise<[timeMs: number, value: number][]> {
  const series = await readMetrics(service, labels);
  assert.ok(series.length <= 1, `${series.length} series fit ${JSON.stringify(labels)}`);
  const [{ samples } = { samples: [] }] = series;
  return samples.map(({ timeMs, bits }) => [Number(timeMs), toNumber(bits)]);
}

function toMatchers(labels: Labels): Matcher[] {
  return Object.entries(labels).map(([name, value]) => ({ name, type: '=', value }));
}

function isList(matchers: readonly Matcher[] | Labels): matchers is readonly Matcher[] {
  return Array.isArray(matchers);
}
