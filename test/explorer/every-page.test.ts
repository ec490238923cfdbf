/**
 * Rules for every page of the explorer, in both themes, on desktop and phone: no serious axe
 * finding, no horizontal overflow, and names with markup shown as text.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { pushText } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, signIn, startExplorer } from './explorer.ts';

const skip = missingBrowser() ?? false;
const markup = '<img src=x onerror=alert(1)>';

const devices = {
  desk: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
} as const;

suite('every page', { skip }, () => {
  let explorer: Explorer;
  let paths: readonly string[];
  before(async () => {
    explorer = await startExplorer();
    const { service } = explorer;
    const { receivers } = service.quickstart;
    await service.postLogs([
      {
        message: `${markup} </script><script>alert(2)</script> \u001b[31mred\u202egnp.exe`,
        severity: 'ERROR',
        service_name: markup,
        host: '"><svg onload=alert(3)>',
        labels: { [markup]: 'javascript:alert(4)', __proto__x: markup },
      },
      ...['TRACE', 'debug', 'info', 'warn', 'FATAL', 'odd'].map((severity) => ({
        message: `one of ${severity}`,
        severity,
        service_name: 'shop',
      })),
    ]);
    await pushText(service, `level{site=${JSON.stringify(markup)}} 1\n`);
    await until(async () => (await service.list({})).logs.length === 7, { what: 'the logs' });
    paths = [
      '/explore/logs',
      '/explore/metrics',
      '/explore/metrics?metric=level&q=level&q=sum(level)%2B1',
      `/explore/metrics?of=serviceName:${encodeURIComponent(markup)}`,
      '/alerts',
      '/alerts?tab=history',
      '/alerts?tab=rules',
      '/alerts?tab=notifiers',
      '/alerts/edit',
      '/receivers',
      `/receivers/${receivers.http_json.receiverId}`,
      `/receivers/${receivers.http_json.receiverId}?tab=status`,
      `/receivers/${receivers.http_json.receiverId}?tab=tokens`,
      `/receivers/${receivers.http_json.receiverId}?tab=settings`,
      '/streams',
      '/tokens',
      '/accounts',
    ];
  });
  after(() => explorer.close());

  test('sign-in', async () => {
    for (const device of Object.values(devices)) {
      const { page, close } = await explorer.visit('/', device);
      await page.getByLabel('Access token').fill('wri_of_a_sender');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('An access token starts with').waitFor();
      await page.getByLabel('Access token').fill('wra_unknown');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('token').waitFor();
      await assertAccessible(page, 'the door');
      await assertFits(page, 'the door');
      await close();
    }
  });

  for (const [device, options] of Object.entries(devices)) {
    test(`on a ${device}`, async () => {
      const { page, close } = await explorer.open('/', options);
      for (const path of paths) {
        await page.goto(explorer.service.quickstart.streamUrl + path);
        await page.getByRole('navigation', { name: 'Pages' }).waitFor();
        await page.waitForLoadState('networkidle');
        await assertAccessible(page, `${path} on a ${device}`);
        await assertFits(page, `${path} on a ${device}`);
      }
      await close();
    });
  }

  test('shows the newest logs despite a slow browser clock', async () => {
    const { page, close } = await explorer.visit('/');
    await page.clock.install({ time: Date.now() - 7_200_000 });
    await page.goto(`${explorer.service.quickstart.streamUrl}/explore/logs`);
    await signIn(page, explorer.service.quickstart.accessToken);
    await page.getByText('7 logs', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText('7 logs', { exact: true }).first().waitFor();
    await close();
  });

  test('long names and addresses fit a screen', async () => {
    const { service } = explorer;
    const name = 'N'.repeat(100);
    const stream = await service.admin('POST', '/streams', { name });
    const { streamId } = stream.json<{ streamId: string }>();
    await service.admin('POST', '/receivers', { name, kind: 'http_json', streamId });
    const url = `https://hooks.example.com/${'a'.repeat(900)}`;
    await service.admin('POST', '/notifiers', { name, kind: 'webhook', url, secret: '' });
    const { page, close } = await explorer.open('/', devices.desk);
    for (const path of ['/streams', '/receivers', '/tokens', '/alerts?tab=notifiers']) {
      await page.goto(service.quickstart.streamUrl + path);
      await page.getByRole('rowheader', { name }).waitFor();
      await assertFits(page, path);
    }
    await close();
  });

  test('theme and time zone are those of all tabs', async () => {
    const { page, close } = await explorer.open('/explore/logs');
    const tab = await page.context().newPage();
    await tab.goto(`${explorer.service.quickstart.streamUrl}/streams`);
    await tab.getByRole('button', { name: /^Theme: system/ }).click();
    await page.getByRole('button', { name: /^Theme: light/ }).waitFor();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
    await page.getByRole('button', { name: /^Time range/ }).click();
    await page.getByLabel('Times in UTC').check();
    await tab.reload();
    await tab.getByRole('button', { name: /^Theme: light/ }).waitFor();
    await close();
  });

  test('the other pages work while one cannot be loaded', async () => {
    const { page } = await explorer.open('/streams');
    const isPart = /assets\/receivers-page/;
    await page.route(isPart, (route) => route.abort());
    await page.getByRole('table', { name: 'Streams' }).waitFor();
    await page.getByRole('link', { name: 'Receivers' }).click();
    await page.getByRole('alert').getByText('Weir is unreachable, or was updated').waitFor();
    await page.getByRole('link', { name: 'Streams' }).click();
    await page.getByRole('table', { name: 'Streams' }).waitFor();
    await page.unroute(isPart);
    await page.getByRole('link', { name: 'Receivers' }).click();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('table', { name: 'Receivers' }).waitFor();
    // The browser reports the failed load.
    await page.context().close();
  });

  test('an offline browser says what it cannot reach, and goes on by itself', async () => {
    const { page } = await explorer.open('/receivers');
    await page.getByRole('button', { name: 'New receiver' }).click();
    await page.getByLabel('Name').fill('made offline');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Create receiver' }).click();
    const reason = page.getByRole('alert').getByText('cannot reach Weir');
    await reason.waitFor();
    await page.keyboard.press('Escape');
    await page.context().setOffline(false);
    await page.goto(`${explorer.service.quickstart.streamUrl}/explore/logs`);
    const total = page.getByRole('region', { name: 'Logs over time' }).getByRole('status');
    await total.filter({ hasText: '7 logs' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('tab', { name: 'Patterns' }).click();
    await reason.waitFor();
    await page.context().setOffline(false);
    await page.getByRole('table', { name: /^Patterns/ }).waitFor();
    await reason.waitFor({ state: 'detached' });
    // The browser reports the failed calls.
    await page.context().close();
  });

  test('help lists the keys, and Escape closes it', async () => {
    const { page, close } = await explorer.open('/');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    await assertAccessible(page, 'the help');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await close();
  });
});

async function assertFits(page: Page, what: string): Promise<void> {
  const { wanted, given } = await page.evaluate(() => ({
    wanted: document.documentElement.scrollWidth,
    given: document.documentElement.clientWidth,
  }));
  assert.ok(wanted <= given, `${what} is ${wanted} px wide on a screen of ${given}`);
}
