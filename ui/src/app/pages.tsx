/** The pages with their paths and scopes. The service serves the same paths. */
import { type ComponentType, lazy } from 'react';
import type { WhoAmI } from '../api/models.ts';

export interface Page {
  /** Pattern of wouter. */
  readonly path: string;
  readonly title: string;
  /** Label in the navigation; absent = linked from another page. */
  readonly label?: string;
  readonly scope: WhoAmI['scopes'][number];
  readonly Page: ComponentType;
}

export const pages: readonly Page[] = [
  {
    path: '/explore/logs',
    title: 'Logs',
    label: 'Logs',
    scope: 'logs:read',
    Page: load(async () => (await import('../explore/logs-page.tsx')).LogsPage),
  },
  {
    path: '/explore/traces/:traceId',
    title: 'Trace',
    scope: 'logs:read',
    Page: load(async () => (await import('../explore/trace/trace-page.tsx')).TracePage),
  },
  {
    path: '/explore/metrics',
    title: 'Metrics',
    label: 'Metrics',
    scope: 'metrics:read',
    Page: load(async () => (await import('../metrics/metrics-page.tsx')).MetricsPage),
  },
  {
    path: '/alerts',
    title: 'Alerts',
    label: 'Alerts',
    scope: 'metrics:read',
    Page: load(async () => (await import('../alerts/alerts-page.tsx')).AlertsPage),
  },
  {
    path: '/alerts/edit',
    title: 'Rules',
    scope: 'admin',
    Page: load(async () => (await import('../alerts/edit-rules-page.tsx')).EditRulesPage),
  },
  {
    path: '/receivers',
    title: 'Receivers',
    label: 'Receivers',
    scope: 'admin',
    Page: load(async () => (await import('../receivers/receivers-page.tsx')).ReceiversPage),
  },
  {
    path: '/receivers/:receiverId',
    title: 'Receiver',
    scope: 'admin',
    Page: load(async () => (await import('../receivers/receiver-page.tsx')).ReceiverPage),
  },
  {
    path: '/streams',
    title: 'Streams',
    label: 'Streams',
    scope: 'admin',
    Page: load(async () => (await import('../streams/streams-page.tsx')).StreamsPage),
  },
  {
    path: '/tokens',
    title: 'Tokens',
    label: 'Tokens',
    scope: 'admin',
    Page: load(async () => (await import('../tokens/tokens-page.tsx')).TokensPage),
  },
  {
    path: '/accounts',
    title: 'Accounts',
    label: 'Accounts',
    scope: 'operator',
    Page: load(async () => (await import('../accounts/accounts-page.tsx')).AccountsPage),
  },
];

/** A page that the browser loads when it is opened first. */
function load(page: () => Promise<ComponentType>) {
  return lazy(async () => {
    try {
      return { default: await page() };
    } catch (cause) {
      const reason = 'Weir is unreachable, or was updated since this tab was opened';
      throw new Error(`cannot load it: ${reason}`, { cause });
    }
  });
}

/** The first page that these scopes can open. */
export function homeOf(scopes: WhoAmI['scopes']): string {
  const first = pages.find(({ label, scope }) => label !== undefined && scopes.includes(scope));
  return first?.path ?? '/explore/logs';
}
