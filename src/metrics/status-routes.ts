/** What clients ask of a Prometheus server about itself. */
import { z } from 'zod';
import { jsonResponse, type ReadRoute } from '../model/read-route.ts';
import { success } from './answers.ts';
import type { MetricsLimits } from './plan.ts';
import { noQuery } from './requests.ts';

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
export function createStatusRoutes(limits: MetricsLimits): readonly StatusRoute[] {
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
  ];
}

function status<Data extends z.ZodType>(
  path: string,
  operationId: string,
  summary: string,
  schema: Data,
  data: z.output<Data>,
): StatusRoute {
  const response = jsonResponse(z.object({ status: z.literal('success'), data: schema }));
  return { path, operationId, summary, query: noQuery, response, read: async () => success(data) };
}
