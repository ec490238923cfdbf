/** What clients ask of a Prometheus server about itself. */
import { z } from 'zod';
import { jsonResponse, type ReadRequest } from '../model/read-route.ts';
import { type ReadContextSource, readContext } from '../model/readable-streams.ts';
import type { Store } from '../store/port.ts';
import { envelope, type MetricRoute, success } from './responses.ts';
import { type MetricsLimits, planSeries } from './plan.ts';
import { noQuery, statusQuery, withMetricQuery } from './requests.ts';
import { toTsdbStatus, tsdbStatus } from './tsdb-status.ts';

/** Clients derive features from the version: queries, labels and selectors as in Prometheus 3. */
const buildInfo = {
  application: 'Weir',
  version: '3.0.0',
  revision: '',
  branch: '',
  buildUser: '',
  buildDate: '',
  goVersion: '',
};

const texts = z.record(z.string(), z.string());

export interface StatusParts extends ReadContextSource {
  readonly store: Pick<Store, 'series'>;
}

/** What Prometheus tells of its process; most of it has no meaning here. */
const runtimeInfo = z.object({
  startTime: z.string(),
  CWD: z.string(),
  hostname: z.string(),
  serverTime: z.string(),
  reloadConfigSuccess: z.boolean(),
  lastConfigTime: z.string(),
  corruptionCount: z.number(),
  goroutineCount: z.number(),
  GOMAXPROCS: z.number(),
  GOMEMLIMIT: z.number(),
  GOGC: z.string(),
  GODEBUG: z.string(),
  storageRetention: z.string(),
});

/** @throws AppError `unavailable` */
export function createStatusRoutes(
  parts: StatusParts,
  limits: MetricsLimits,
): readonly MetricRoute[] {
  const startTime = new Date(performance.timeOrigin).toISOString();
  const flags = {
    'query.lookback-delta': '5m',
    'query.max-samples': String(limits.maxQuerySamples),
    'query.timeout': `${limits.queryTimeoutSeconds}s`,
  };
  return [
    status('status/buildinfo', 'getBuildInfo', 'Version of the Prometheus API', texts, buildInfo),
    status('status/flags', 'getFlags', 'Limits of queries, as flags of Prometheus', texts, flags),
    status(
      'status/config',
      'getConfig',
      'Empty: nothing is scraped',
      z.object({ yaml: z.string() }),
      { yaml: '' },
    ),
    {
      path: 'status/runtimeinfo',
      operationId: 'getRuntimeInfo',
      summary: 'Times of the service and the longest retention, as of Prometheus',
      query: noQuery,
      response: jsonResponse(envelope(runtimeInfo)),
      async read({ accountId }) {
        const { streams, nowMs } = await readContext(parts, accountId);
        const days = Math.max(0, ...streams.map(({ retentionDays }) => retentionDays));
        return success({
          startTime,
          CWD: '',
          hostname: '',
          serverTime: new Date(nowMs).toISOString(),
          reloadConfigSuccess: true,
          lastConfigTime: startTime,
          corruptionCount: 0,
          goroutineCount: 0,
          GOMAXPROCS: 0,
          GOMEMLIMIT: 0,
          GOGC: '',
          GODEBUG: '',
          storageRetention: `${days}d`,
        });
      },
    },
    {
      path: 'status/tsdb',
      operationId: 'getTsdbStatus',
      summary: 'Numbers of series and of label values today',
      response: jsonResponse(envelope(tsdbStatus)),
      ...withMetricQuery(
        statusQuery,
        async ({ limit = 10 }, { accountId, disconnected }: ReadRequest) => {
          const context = await readContext(parts, accountId);
          const { nowMs: untilMs } = context;
          const fromMs = untilMs - (untilMs % dayMs);
          const range = { start: BigInt(fromMs), end: BigInt(untilMs) };
          const plan = planSeries(context, range, limits);
          const series = await parts.store.series(plan, disconnected);
          return success(toTsdbStatus(series, { fromMs, untilMs, limit }));
        },
      ),
    },
  ];
}

const dayMs = 86_400_000;

function status<Data extends z.ZodType>(
  path: string,
  operationId: string,
  summary: string,
  schema: Data,
  data: z.output<Data>,
): MetricRoute {
  const response = jsonResponse(envelope(schema));
  return { path, operationId, summary, query: noQuery, response, read: async () => success(data) };
}
