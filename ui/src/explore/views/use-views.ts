/** Saved views of the account: list and mutations. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { dataOf } from '../../api/client.ts';
import { useApp } from '../../app/context.ts';

const path = '/api/v1/admin/views';
const queryKey = ['views'];

export function useViews() {
  const { api } = useApp();
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await dataOf(api.GET(path, { signal }))).views,
    staleTime: 30_000,
  });
}

export type ViewChange =
  | { readonly kind: 'create'; readonly name: string; readonly query: string }
  | { readonly kind: 'rename'; readonly viewId: string; readonly name: string }
  | { readonly kind: 'overwrite'; readonly viewId: string; readonly query: string }
  | { readonly kind: 'delete'; readonly viewId: string };

export function useViewChange() {
  const { api } = useApp();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: ViewChange): Promise<void> => {
      if (change.kind === 'create') {
        const { name, query } = change;
        await api.POST(path, { body: { name, query } });
        return;
      }
      const params = { path: { viewId: change.viewId } };
      const one = `${path}/{viewId}` as const;
      if (change.kind === 'delete') {
        await api.DELETE(one, { params });
        return;
      }
      const body = change.kind === 'rename' ? { name: change.name } : { query: change.query };
      await api.PATCH(one, { params, body });
    },
    onSuccess: () => client.invalidateQueries({ queryKey }),
  });
}
