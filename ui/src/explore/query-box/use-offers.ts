/** What the query box offers, read from the service. */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { dataOf } from '../../api/client.ts';
import { useApp, useScope } from '../../app/context.ts';
import { columnFields, fieldTitle } from '../log/log-fields.ts';
import type { TimeBounds } from '../query.ts';
import { faultOf, queryKey } from '../terms.ts';
import type { Offers } from './completions.ts';

const maxValues = 100;

export function useOffers(bounds: TimeBounds, streamNames: ReadonlyMap<string, string>): Offers {
  const { api } = useApp();
  const client = useQueryClient();
  const canCount = useScope('analytics:read');
  const latest = useRef({ bounds, streamNames });
  latest.current = { bounds, streamNames };
  return useMemo<Offers>(
    () => ({
      keys: async () =>
        ['severity', ...columnFields].map((field) => ({
          key: queryKey(field),
          title: fieldTitle(field),
        })),
      async values({ field, prefix, others }, signal) {
        if (!canCount) return [];
        const isReadable = others !== '' && faultOf(others) === undefined;
        const query = {
          ...latest.current.bounds,
          ...(isReadable && { query: others }),
          field,
          topK: maxValues,
        };
        const { values } = await client.query({
          queryKey: ['offered-values', query],
          queryFn: () => dataOf(api.GET('/api/v1/facets', { params: { query }, signal })),
          staleTime: 60_000,
          gcTime: 60_000,
        });
        const wanted = prefix.toLowerCase();
        return values
          .map(({ value, count }) => ({ value: nameOf(field, value, latest.current), count }))
          .filter(({ value }) => value.toLowerCase().startsWith(wanted));
      },
    }),
    [api, client, canCount],
  );
}

interface Names {
  readonly streamNames: ReadonlyMap<string, string>;
}

function nameOf(field: string, value: string, { streamNames }: Names): string {
  return field === 'streamId' ? (streamNames.get(value) ?? value) : value;
}
