/** Descriptions of the scopes of access tokens. Pure. */
import type { Token } from '../api/models.ts';

export type AccessScope = Exclude<Token['scopes'][number], 'ingest:write'>;

export const scopeWords: Readonly<Record<AccessScope, string>> = {
  'logs:read': 'Read logs: list, follow, context, export, saved views.',
  'analytics:read': 'Count logs: histogram and facets. Also needed for the logs page.',
  'metrics:read': 'Read metrics in the explorer, Prometheus or Grafana.',
  admin: 'Manage streams, receivers and tokens of its accounts.',
  operator: 'Manage every account: create and delete them, and set their quotas.',
};

/** In form order. */
export const accessScopes = Object.keys(scopeWords) as readonly AccessScope[];
