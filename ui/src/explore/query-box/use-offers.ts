/** What the query box offers, read from the service. */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { toKey, toTarget } from '../../../../src/query/fields.ts';
import { dataOf } from '../../api/client.ts';
import { useApp, useScope } from '../../app/context.ts';
import { formatCount } from '../../parts/text/time-text.ts';
import { columnFields, fieldTitle } from '../log/log-fields.ts';
import type { TimeBounds } from '../query.ts';
import { faultOf, queryKey } from '../terms.ts';
import type { Offers } from './completions.ts';

const maxValues = 50;

export function useOffers(bounds: TimeBounds, streamNames: ReadonlyMap<string, string>): Offers {
  const { api } = useApp();
  const client = useQueryClient();
  const canCount = useScope('analytics:read');
  const latest = useRef({ bounds, streamNames });
  latest.current = { bounds, streamNames };
  return useMemo<Offers>(
    () => ({
      async keys() {
        const known = ['severity', ...columnFields].map((field) => ({
          key: queryKey(field),
          title: fieldTitle(field),
        }));
        if (!canCount) return known;
        const query = latest.current.bounds;
        const { fields } = await client.query({
          queryKey: ['offered-keys', query],
          queryFn: () => dataOf(api.GET('/api/v1/fields', { params: { query } })),
          staleTime: 60_000,
          gcTime: 60_000,
        });
        const counted = fields.map(({ name, count }) => {
          const key = toKey(toTarget(name));
          const title = known.find((one) => one.key === key)?.title ?? '';
          return { key, title: `${title} ${formatCount(count)}`.trim() };
        });
        return [...counted, ...known.filter(({ key }) => counted.every((one) => one.key !== key))];
      },
      async values({ field, prefix, others }) {
        if (!canCount) return [];
        const isReadable = others !== '' && faultOf(others) === undefined;
        // Streams are offered by name.
        const isStream = field === 'streamId';
        const query = {
          ...latest.current.bounds,
          ...(isReadable && { query: others }),
          prefix: isStream ? '' : prefix,
          limit: isStream ? 100 : maxValues,
        };
        const { values } = await client.query({
          queryKey: ['offered-values', field, query],
          queryFn: () => {
            const params = { path: { name: field }, query };
            return dataOf(api.GET('/api/v1/fields/{name}/values', { params }));
          },
          staleTime: 60_000,
          gcTime: 60_000,
        });
        if (!isStream) return values;
        return values
          .map(({ value, count }) => ({
            value: latest.current.streamNames.get(value) ?? value,
            count,
          }))
          .filter(({ value }) => value.toLowerCase().startsWith(prefix.toLowerCase()));
      },
    }),
    [api, client, canCount],
  );
}
