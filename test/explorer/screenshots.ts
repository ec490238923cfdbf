/**
 * `npm run screenshots`: images for the documentation, from a real service with demo data. With
 * `-- --folder FOLDER` every page in both themes and on a phone is saved there instead.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { fillWithDemoData } from './demo-data.ts';
import type { Service } from '../harness/service.ts';
import { type Explorer, startExplorer } from './explorer.ts';
import { parseOptions } from '../../scripts/script-options.ts';

const { folder: elsewhere } = parseOptions(import.meta.url, { folder: { type: 'string' } });
const folder = elsewhere ?? fileURLToPath(new URL('../../docs/images', import.meta.url));
/** Used in the documentation. */
const shown = [
  'logs-light',
  'logs-dark',
  'log-open-light',
  'trace-light',
  'logs-phone-light',
  'metrics-light',
  'heat-map-light',
  'alerts-light',
  'alert-editor-light',
  'receiver-status-light',
  'send-data-light',
];
const desk: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true };

interface Picture {
  readonly name: string;
  readonly path: (explorer: Explorer) => string;
  readonly device?: BrowserContextOptions;
  readonly prepare?: (page: Page) => Promise<void>;
}

const receiverPath = ({ service }: Explorer) =>
  `/receivers/${service.quickstart.receivers.http_json.receiverId}`;

const metricQueries = new URLSearchParams([
  ['q', 'sum by (service) (rate(http_requests_total[15m]))'],
  ['q', 'sum(rate(http_requests_total{code="502"}[15m]))'],
]).toString();
const heatQuery = new URLSearchParams({
  q: 'sum by (le) (increase(http_request_duration_seconds_bucket[15m]))',
}).toString();

const failedCheckouts = '/explore/logs?range=24h&severity=ERROR&serviceName=checkout';

async function untilCounted(page: Page): Promise<void> {
  await page.getByRole('row').nth(2).waitFor();
  await page.getByLabel('By severity').getByText('error').waitFor();
}

const pictures: readonly Picture[] = [
  { name: 'logs', path: () => '/explore/logs?range=24h', prepare: untilCounted },
  {
    name: 'log-open',
    path: () => failedCheckouts,
    prepare: async (page) => {
      await page.getByText('payment').first().click();
      await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
    },
  },
  {
    name: 'trace',
    path: () => failedCheckouts,
    prepare: async (page) => {
      await page.getByText('payment').first().click();
      await page.getByRole('link', { name: /^[\da-f]{32}$/ }).click();
      await page.getByRole('list', { name: 'Services of the trace' }).waitFor();
    },
  },
  {
    name: 'logs-phone',
    path: () => '/explore/logs?range=24h',
    device: phone,
    prepare: untilCounted,
  },
  {
    name: 'metrics',
    path: () => `/explore/metrics?range=24h&axis=zero&${metricQueries}`,
    prepare: (page) => page.getByRole('slider').waitFor(),
  },
  {
    name: 'heat-map',
    path: () => `/explore/metrics?range=24h&display=heat&${heatQuery}`,
    prepare: (page) => page.getByRole('slider', { name: /^Heat map/ }).waitFor(),
  },
  {
    name: 'alerts',
    path: () => '/alerts?tab=rules',
    prepare: (page) =>
      page
        .getByText(/^firing: /)
        .first()
        .waitFor(),
  },
  {
    name: 'alert-editor',
    path: () => `/alerts/edit?${new URLSearchParams({ query: 'severity>=error' })}`,
    prepare: async (page) => {
      await page.getByLabel('Preview over').selectOption('24h');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('list', { name: 'Alerts of the preview' }).waitFor();
    },
  },
  {
    name: 'patterns',
    path: () => '/explore/logs?range=24h&tab=patterns',
    prepare: (page) => page.getByRole('table', { name: /^Patterns/ }).waitFor(),
  },
  {
    name: 'compare',
    path: () => '/explore/logs?range=24h&query=severity:error&tab=compare&baseline=rest',
  },
  { name: 'stats', path: () => '/explore/logs?range=24h&tab=stats' },
  { name: 'nothing-found', path: () => '/explore/logs?range=24h&query=nonesuch' },
  { name: 'metric-browser', path: () => '/explore/metrics?range=24h' },
  { name: 'alerts-active', path: () => '/alerts' },
  { name: 'alerts-history', path: () => '/alerts?tab=history' },
  { name: 'notifiers', path: () => '/alerts?tab=notifiers' },
  { name: 'receivers', path: () => '/receivers' },
  { name: 'send-data', path: receiverPath },
  { name: 'receiver-tokens', path: (explorer) => `${receiverPath(explorer)}?tab=tokens` },
  { name: 'receiver-settings', path: (explorer) => `${receiverPath(explorer)}?tab=settings` },
  { name: 'receiver-status', path: (explorer) => `${receiverPath(explorer)}?tab=status` },
  { name: 'streams', path: () => '/streams' },
  { name: 'tokens', path: () => '/tokens' },
];

mkdirSync(folder, { recursive: true });
const explorer = await startExplorer();
try {
  await fillWithDemoData(explorer.service);
  await provokeRefusals(explorer.service);
  await applyRules(explorer.service);
  for (const picture of pictures) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const isWanted = elsewhere !== undefined || shown.includes(`${picture.name}-${colorScheme}`);
      if (isWanted) await take(picture, colorScheme);
    }
    if (elsewhere !== undefined && picture.device === undefined) {
      const { name, path, prepare } = picture;
      await take(
        { name: `${name}-on-phone`, path, device: phone, ...(prepare && { prepare }) },
        'light',
      );
    }
  }
} finally {
  await explorer.close();
}

async function take(picture: Picture, colorScheme: 'light' | 'dark'): Promise<void> {
  const { name, path, device = desk, prepare } = picture;
  const { page, close } = await explorer.open(path(explorer), { ...device, colorScheme });
  await page.waitForLoadState('networkidle');
  await prepare?.(page);
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png` });
  await close();
}

/** Content of a receiver's status: a wrong token, a malformed body, events without a message. */
async function provokeRefusals(service: Service): Promise<void> {
  const { url, token } = service.quickstart.receivers.http_json;
  const send = (secret: string, body: string) =>
    service.http.send(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
  for (let times = 0; times < 3; times += 1) await send('wri_of_somebody_else', '{}');
  await send(token, '{"message": "cut off');
  await send(token, '[{"message": "good"}, {"severity": "INFO"}, {"message": 7}]');
}

/** Rules in each state: one fires, one does not, one records. */
async function applyRules(service: Service): Promise<void> {
  const rules = `
groups:
- name: requests
  interval: 1s
  rules:
  - record: service:requests:rate5m
    expr: sum by (service) (rate(http_requests_total[5m]))
  - alert: TooManyFailures
    expr: sum(increase(http_requests_total{code="502"}[1d])) > 10
    labels: { severity: page }
    annotations: { summary: '{{ $value | humanize }} requests failed today' }
  - alert: NoRequests
    expr: absent(http_requests_total)
    for: 10m
- name: errors of checkout
  type: logs
  interval: 1s
  rules:
  - alert: CheckoutErrors
    query: service:checkout severity>=error
    by: host
    window: 1h
    condition: '> 20'
    for: 5m
`;
  const { streamId } = service.quickstart;
  const { status, text } = await service.admin('PUT', `/streams/${streamId}/rule-groups`, {
    rules,
  });
  if (status !== 200) throw new Error(text);
}
