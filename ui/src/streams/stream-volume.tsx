/** How much a stream holds and receives. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { dataOf } from '../api/client.ts';
import type { Receiver } from '../api/models.ts';
import { serviceNowMs } from '../api/service-clock.ts';
import { useApp, useScope } from '../app/context.ts';
import { Ago } from '../parts/text/ago.tsx';
import { formatBytes, formatCount } from '../parts/text/time-text.ts';

const unknown = '–';
const dayMs = 86_400_000;
/** The service answers no more values. */
const topK = 100;

/** Stored logs. */
export function LogCount({ streamId }: { streamId: string }) {
  const { api } = useApp();
  const isAllowed = useScope('analytics:read');
  const { data } = useQuery({
    queryKey: ['stream-counts'],
    queryFn: async ({ signal }) => {
      const query = { field: 'stream', topK } as const;
      const { values } = await dataOf(api.GET('/api/v1/facets', { params: { query }, signal }));
      return values;
    },
    enabled: isAllowed,
  });
  if (data === undefined) return unknown;
  const count = data.find(({ value }) => value === streamId)?.count ?? 0;
  return data.length === topK && count === 0 ? unknown : formatCount(count);
}

/** Bytes of the last day, as the receivers of the stream have read them. */
export function ReceivedBytes({
  receivers,
}: {
  /** Undefined = unknown. */
  receivers: readonly Receiver[] | undefined;
}) {
  const { api } = useApp();
  const bytes = useQueries({
    queries: (receivers ?? []).map(({ receiverId }) => ({
      queryKey: ['received-bytes', receiverId],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const sinceTime = new Date(serviceNowMs() - dayMs).toISOString();
        const params = { path: { receiverId }, query: { sinceTime, buckets: '1' } };
        const path = '/api/v1/admin/receivers/{receiverId}/statistics';
        return (await dataOf(api.GET(path, { params, signal }))).bytes;
      },
    })),
    combine: (all) => all.map(({ data }) => data),
  });
  if (receivers === undefined || bytes.includes(undefined)) return unknown;
  return formatBytes(bytes.reduce<number>((sum, one) => sum + (one ?? 0), 0));
}

export function NewestLog({ streamId }: { streamId: string }) {
  const { api } = useApp();
  const isAllowed = useScope('logs:read');
  const { data } = useQuery({
    queryKey: ['newest-of-stream', streamId],
    queryFn: async ({ signal }) => {
      const query = { streamId: [streamId], limit: 1 };
      const { logs } = await dataOf(api.GET('/api/v1/logs', { params: { query }, signal }));
      return logs[0]?.timestamp ?? null;
    },
    enabled: isAllowed,
  });
  return data === undefined ? unknown : <Ago at={data} never="none" />;
}
