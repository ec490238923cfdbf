/** What clients ask of a Prometheus server about itself, and its rules, of which there are none. */
import { z } from 'zod';
import { jsonResponse, type ReadRequest, type ReadRoute } from '../model/read-route.ts';
import { readContext, type ReadContextSource } from '../model/readable-streams.ts';
import { withQuery } from '../std/parse-query.ts';
import type { Store } from '../store/port.ts';
import { cutTo, success } from './answers.ts';
import { cardinality, toCardinality } from './cardinality.ts';
import { type MetricsLimits, planSeries } from './plan.ts';
import { cardinalityQuery, noQuery } from './requests.ts';

export interface StatusParts extends ReadContextSource {
  readonly store: Pick<Store, 'series'>;
}

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

type StatusRoute = Pick<
  ReadRoute,
  'path' | 'operationId' | 'summary' | 'query' | 'response' | 'read'
>;

const texts = z.record(z.string(), z.string());

/** `path` is below Prometheus' API. */
export function createStatusRoutes(
  parts: StatusParts,
  limits: MetricsLimits,
): readonly StatusRoute[] {
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
      summary: 'Start and current time',
      query: noQuery,
      response: answerOf(texts),
      read: async () =>
        success({
          startTime: new Date(performance.timeOrigin).toISOString(),
          serverTime: new Date(parts.now()).toISOString(),
        }),
    },
    {
      path: 'status/tsdb',
      operationId: 'getCardinality',
      summary: 'Metrics and labels with the most series',
      response: answerOf(cardinality),
      ...withQuery(cardinalityQuery, async ({ limit = 10, ...query }, request: ReadRequest) => {
        const context = await readContext(parts, request.accountId);
        const plan = planSeries(context, { ...query, 'match[]': undefined, limit: 0 }, limits);
        const found = await parts.store.series(plan, request.disconnected);
        const { data } = cutTo(found, undefined, limits.maxReadSeries);
        return success(toCardinality(data, plan, limit));
      }),
    },
    status('rules', 'getRules', 'Empty: rules are evaluated by clients', groups, { groups: [] }),
    status('alerts', 'getAlerts', 'Empty: rules are evaluated by clients', alerts, { alerts: [] }),
  ];
}

const groups = z.object({ groups: z.array(z.unknown()) });
const alerts = z.object({ alerts: z.array(z.unknown()) });

function status<Data extends z.ZodType>(
  path: string,
  operationId: string,
  summary: string,
  schema: Data,
  data: z.output<Data>,
): StatusRoute {
  const response = answerOf(schema);
  return { path, operationId, summary, query: noQuery, response, read: async () => success(data) };
}

function answerOf(schema: z.ZodType) {
  return jsonResponse(z.object({ status: z.literal('success'), data: schema }));
}
