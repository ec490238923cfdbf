/**
 * The incident of the demo data, solved in a browser: by query, by clicks, by comparison, by
 * patterns, by keyboard alone, and on a phone. Each way names the customer or the version.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { incident } from '../../scripts/demo-data/day.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { fillWithDemoData } from './demo-data.ts';
import { type Explorer, missingBrowser, startExplorer } from './explorer.ts';

const { customer, version } = incident;

suite('the incident of the demo data', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  /** Logs of failed payments. */
  let failures: number;
  before(async () => {
    explorer = await startExplorer();
    await fillWithDemoData(explorer.service);
    const failed = { serviceName: 'checkout', severity: 'ERROR' };
    failures = (await explorer.service.facet('service', failed)).total;
    assert.ok(failures > 50, `${failures} failures`);
  });
  after(() => explorer.close());

  const inBrowser = async (
    options: BrowserContextOptions,
    solve: (page: Page) => Promise<void>,
    path = '/explore/logs?range=1d',
  ) => {
    const { page, close } = await explorer.open(path, options);
    await solve(page);
    await close();
  };

  test('by query: completion names the customer and the version', () =>
    inBrowser({ colorScheme: 'light' }, async (page) => {
      await total(page, /^[\d,]+ logs$/);
      await page.keyboard.press('/');
      await page.keyboard.type('service:checkout severity:error');
      await page.keyboard.press('Enter');
      await total(page, `${failures} logs`);
      for (const [key, value] of [
        ['customer.id', customer],
        ['version', version],
      ] as const) {
        await page.keyboard.press('End');
        await page.keyboard.type(` ${key}:`);
        const offered = page.getByRole('listbox').getByRole('option');
        await offered.filter({ hasText: value }).waitFor();
        assert.equal(
          (await offered.first().innerText()).replaceAll(/\s+/g, ' '),
          `${value} ${failures}`,
        );
        await page.keyboard.type(value);
        await page.keyboard.press('Enter');
        await total(page, `${failures} logs`);
      }
      // The same version serves other customers, and the customer is served by others.
      await runQuery(page, `version:${version} -customer.id:${customer} severity:error`);
      await page.getByRole('heading', { name: 'No logs match' }).waitFor();
      await runQuery(page, `service:checkout -version:${version} customer.id:${customer}`);
      await total(page, /^[\d,]+ logs$/);
      await page.getByRole('list', { name: 'By severity' }).getByText('info').waitFor();
      assert.equal(await page.getByRole('button', { name: /^ERROR \d/ }).count(), 0);
    }));

  test('by clicks: a facet, a bar, a log, and the trace of it', () =>
    inBrowser(
      { colorScheme: 'dark' },
      async (page) => {
        await page.getByRole('button', { name: /^Time range: / }).click();
        await page.getByRole('button', { name: '24 hours' }).click();
        await page.getByRole('button', { name: /^ERROR [\d,]+$/ }).click();
        await page.getByRole('button', { name: `checkout ${failures}` }).click();
        await total(page, `${failures} logs`);
        const row = page
          .getByRole('row')
          .filter({ hasText: 'no answer from the card gateway' })
          .first();
        await row.click();
        await page.getByText(customer, { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Show customer.id as a column' }).click();
        await page.getByRole('button', { name: 'Show version as a column' }).click();
        await page.getByRole('columnheader', { name: 'version' }).waitFor();
        await assertAccessible(page, 'a failed payment');
        await page.getByRole('button', { name: `Only customer.id ${customer}` }).click();
        await total(page, `${failures} logs`);
        await page
          .getByRole('button', { name: `customer.id is ${customer}`, exact: true })
          .waitFor();
        await page.getByRole('link', { name: /^[\da-f]{32}$/ }).click();
        await page.getByRole('heading', { name: /^Trace / }).waitFor();
        const spans = page.getByRole('list', { name: 'Services of the trace' });
        await spans.getByRole('button', { name: /^payment/ }).waitFor();
        // The request waited for the payment.
        const checkout = await spans.getByRole('button', { name: /^checkout/ }).innerText();
        assert.match(checkout.replaceAll(/\s+/g, ' '), /^checkout 5\.\d+ s .*2 errors/);
        await assertAccessible(page, 'the trace of a failure');
        await page.getByRole('link', { name: 'Search and filter these logs' }).click();
        await page.getByText(/^Trace id is/).waitFor();
      },
      '/explore/logs',
    ));

  test('by comparison: of the errors that stand out with the time before', () =>
    inBrowser({ colorScheme: 'dark' }, async (page) => {
      await total(page, /^[\d,]+ logs$/);
      await page.getByRole('button', { name: 'Draw errors only' }).click();
      const bars = page.getByRole('slider', { name: 'Errors over time' });
      const box = (await bars.boundingBox())!;
      const at = (ageMs: number) => box.x + box.width * (1 - ageMs / 86_400_000);
      await page.mouse.move(at(incident.fromAgeMs), box.y + 20);
      await page.mouse.down();
      await page.mouse.move(at(incident.untilAgeMs), box.y + 20, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/from=/);
      await page.getByRole('tab', { name: 'Compare' }).click();
      const rows = page.getByRole('table', { name: /^Values that differ/ }).getByRole('row');
      await rows
        .nth(1)
        .getByRole('rowheader', { name: `customer.id: ${customer}` })
        .waitFor();
      await assertAccessible(page, 'a comparison in the dark');
      await rows.getByRole('button', { name: `Only this: customer.id: ${customer}` }).click();
      await page.getByRole('button', { name: `customer.id is ${customer}`, exact: true }).waitFor();
    }));

  test('by patterns: one of errors began with the incident, and has one customer', () =>
    inBrowser({ colorScheme: 'light' }, async (page) => {
      await runQuery(page, 'severity:error');
      await page.getByRole('tab', { name: 'Patterns' }).click();
      const rows = page.getByRole('table', { name: /^Patterns/ }).getByRole('row');
      const failed = rows.filter({ hasText: 'no answer from the card gateway' });
      const count = await failed.getByRole('cell').nth(2).innerText();
      // Each failure is two logs: of the payment, and of the request.
      assert.equal(Number(count), failures / 2);
      await assertAccessible(page, 'patterns of errors');
      await failed.getByRole('button', { name: /^Only this/ }).click();
      await total(page, `${count} logs`);
      await page.getByRole('tab', { name: 'Compare' }).click();
      await page
        .getByRole('combobox', { name: 'Compare with' })
        .selectOption('other logs of this time');
      const differences = page.getByRole('table', { name: /^Values that differ/ });
      for (const name of [`customer.id: ${customer}`, `version: ${version}`]) {
        await differences.getByRole('rowheader', { name }).waitFor();
      }
    }));

  test('by keyboard alone', () =>
    inBrowser({ colorScheme: 'light' }, async (page) => {
      const { keyboard } = page;
      const tabTo = (name: RegExp, role: Parameters<Page['getByRole']>[0]) =>
        until(
          async () => {
            await keyboard.press('Tab');
            const focused = page.getByRole(role, { name }).and(page.locator(':focus'));
            return (await focused.count()) > 0;
          },
          { what: `the focus on ${name}`, everyMs: 0 },
        );
      await total(page, /^[\d,]+ logs$/);
      await keyboard.press('/');
      await keyboard.type('severity:error service:checkout');
      await keyboard.press('Enter');
      await total(page, `${failures} logs`);
      await keyboard.press('Escape');
      await keyboard.press('j');
      await keyboard.press('o');
      await page.getByText(customer, { exact: true }).waitFor();
      await tabTo(/^Only version/, 'button');
      await keyboard.press('Enter');
      await total(page, `${failures} logs`);
      await page.getByRole('button', { name: `version is ${version}`, exact: true }).waitFor();
      // The tabs are one stop; arrows move between them.
      await page.getByRole('row').nth(1).waitFor();
      await keyboard.press('/');
      await keyboard.press('Escape');
      await tabTo(/^Logs$/, 'tab');
      await keyboard.press('ArrowRight');
      await keyboard.press('ArrowRight');
      await page.getByRole('tab', { name: 'Compare', selected: true }).waitFor();
      // The day before has no logs.
      await page.getByRole('heading', { name: 'Nothing to compare with' }).waitFor();
      await tabTo(/^Compare with other logs/, 'button');
      await keyboard.press('Enter');
      await page.getByRole('table', { name: /^Values that differ/ }).waitFor();
      await tabTo(new RegExp(`^Only this: customer.id: ${customer}`), 'button');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: `customer.id is ${customer}`, exact: true }).waitFor();
      await page.goBack();
      await page.goBack();
      await page.goBack();
      await page.getByRole('tab', { name: 'Logs', selected: true }).waitFor();
      await page.getByRole('row').nth(1).waitFor();
      await keyboard.press('j');
      await keyboard.press('o');
      await tabTo(/^[\da-f]{32}$/, 'link');
      await keyboard.press('Enter');
      await page.getByRole('heading', { name: /^Trace / }).waitFor();
    }));

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`on a phone, ${colorScheme}`, () =>
      inBrowser(
        { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme },
        async (page) => {
          const check = async (what: string) => {
            const old = page.locator('[data-stale=true], [data-is-old=true]');
            await until(async () => (await old.count()) === 0, { what: 'the answers' });
            // Contrast is that of a page at rest.
            await page.waitForFunction(() => document.getAnimations().length === 0);
            await assertAccessible(page, `${what} on a phone, ${colorScheme}`);
            const overflow = await page.evaluate(
              () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            assert.equal(overflow, 0, what);
          };
          await total(page, /^[\d,]+ logs$/);
          await page.getByRole('button', { name: /^Facets/ }).tap();
          const sheet = page.getByRole('dialog', { name: 'Filter by value' });
          await sheet.getByRole('button', { name: /^ERROR [\d,]+$/ }).tap();
          await sheet.getByRole('button', { name: `checkout ${failures}` }).tap();
          await sheet.getByRole('button', { name: `node-3 ${failures}` }).waitFor();
          await check('facets');
          await page.keyboard.press('Escape');
          await total(page, `${failures} logs`);
          await page.getByRole('row').nth(1).tap();
          await page.getByText(customer, { exact: true }).waitFor();
          await check('a failed payment');
          await page.getByRole('button', { name: `Only version ${version}` }).tap();
          await page.getByRole('tab', { name: 'Compare' }).tap();
          await page.getByRole('button', { name: /^Compare with other logs/ }).tap();
          await page.getByRole('table', { name: /^Values that differ/ }).waitFor();
          await page.getByText(`customer.id: ${customer}`).waitFor();
          await check('a comparison');
          await page.getByRole('tab', { name: 'Logs' }).tap();
          await page.getByRole('row').nth(1).tap();
          await page.getByRole('link', { name: /^[\da-f]{32}$/ }).tap();
          await page.getByRole('list', { name: 'Services of the trace' }).waitFor();
          await check('a trace');
        },
      ));
  }
});

function total(page: Page, words: string | RegExp) {
  return page
    .getByRole('region', { name: 'Logs over time' })
    .getByRole('status')
    .filter({ hasText: typeof words === 'string' ? new RegExp(`^${words}$`) : words })
    .waitFor();
}

/** Replaces the text of the query box. */
async function runQuery(page: Page, text: string): Promise<void> {
  await page.getByRole('region', { name: 'Logs over time' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.press('ControlOrMeta+a');
  // Typing over coloured text makes Chromium write an inline style, which the page refuses.
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}
