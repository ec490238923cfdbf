/** `npm run screenshots`: the documentation's pictures, taken of a real service with demo data. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { fillWithDemoData } from './demo-data.ts';
import { type Explorer, startExplorer } from './explorer.ts';

const folder = fileURLToPath(new URL('../../docs/images', import.meta.url));
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

const pictures: readonly Picture[] = [
  { name: 'logs', path: () => '/explore/logs' },
  {
    name: 'log-open',
    path: () => '/explore/logs?severity=ERROR',
    prepare: async (page) => {
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
    },
  },
  { name: 'logs-phone', path: () => '/explore/logs', device: phone },
  { name: 'metrics', path: () => '/explore/metrics?metric=http_requests_total' },
  { name: 'receivers', path: () => '/receivers' },
  { name: 'send-data', path: receiverPath },
  { name: 'receiver-status', path: (explorer) => `${receiverPath(explorer)}?tab=status` },
  { name: 'streams', path: () => '/streams' },
  { name: 'tokens', path: () => '/tokens' },
];

mkdirSync(folder, { recursive: true });
const explorer = await startExplorer();
try {
  await fillWithDemoData(explorer.service);
  for (const picture of pictures) {
    for (const colorScheme of ['light', 'dark'] as const) await take(picture, colorScheme);
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
  await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png` });
  await close();
}
