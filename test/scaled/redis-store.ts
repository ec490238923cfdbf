/** Quota stores on a test's Redis, with their log lines and metrics. */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  openRedisQuota,
  type RedisQuota,
  type RedisQuotaOptions,
} from '../../src/admission/redis-quota.ts';
import { createQuotaEvents } from '../../src/telemetry/request-events.ts';

export interface ObservedQuota extends RedisQuota {
  /** Lines of its log so far. */
  readonly logged: readonly string[];
  /** Sum of a metric over the other labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

export async function openStore(
  url: string | readonly string[],
  options: Partial<RedisQuotaOptions> = {},
): Promise<ObservedQuota> {
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const metrics = new Registry();
  const store = await openRedisQuota(
    {
      urls: [url].flat(),
      topology: 'single',
      user: undefined,
      password: undefined,
      ca: undefined,
      timeoutMs: 2000,
      ...options,
    },
    createQuotaEvents({ log, metrics }),
  );
  return {
    ...store,
    logged,
    async metric(name, labels = {}) {
      const values = (await metrics.getSingleMetric(name)?.get())?.values ?? [];
      return values
        .filter(({ labels: has }) => Object.entries(labels).every(([key, v]) => has[key] === v))
        .reduce((sum, { value }) => sum + value, 0);
    },
  };
}
