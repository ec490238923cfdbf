/** The tabs of the explorer on the demo data: patterns, comparison and statistics. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { incident } from '../../scripts/demo-data/day.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { fillWithDemoData } from './demo-data.ts';
import { type Explorer, missingBrowser, startExplorer, type WatchedPage } from './explorer.ts';

suite('tabs of the explorer', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  let watched: WatchedPage;
  let page: Page;
  let nowMs: number;
  before(async () => {
    explorer = await startExplorer();
    nowMs = Date.now();
    await fillWithDemoData(explorer.service);
    watched = await explorer.open('/explore/logs');
    ({ page } = watched);
    await page.getByRole('tablist', { name: 'Show as' }).waitFor();
  });
  after(async () => {
    try {
      await watched.close();
    } finally {
      await explorer.close();
    }
  });
  const go = (search: string) =>
    page.goto(`${explorer.service.quickstart.streamUrl}/explore/logs?${search}`);
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
  const range = () => {
    const ago = (ageMs: number) => new Date(nowMs - ageMs).toISOString();
    return `from=${ago(incident.fromAgeMs)}&until=${ago(incident.untilAgeMs)}`;
  };
  const table = (name: RegExp) => page.getByRole('table', { name });

  test('arrow keys move between tabs, and the address keeps the tab', async () => {
    await page.getByRole('tab', { name: 'Logs' }).focus();
    await page.keyboard.press('ArrowRight');
    await table(/^Patterns/).waitFor();
    assert.equal(parameter('tab'), 'patterns');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'Compare' }).waitFor();
    assert.equal(parameter('tab'), 'compare');
    await page.reload();
    await page.getByRole('tab', { name: 'Compare', selected: true }).waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Patterns', selected: true }).waitFor();
  });

  test('a pattern is hidden, or the only one', async () => {
    const [linked] = (await explorer.service.list({ limit: 1 })).logs;
    await go(`tab=patterns&${range()}&query=service:payment&log=${linked!.logId}`);
    const rows = table(/^Patterns/).getByRole('row');
    await rows.nth(1).waitFor();
    await assertAccessible(page, 'patterns');
    const count = await rows.count();
    await rows
      .nth(1)
      .getByRole('button', { name: /^Not this: / })
      .click();
    await until(async () => (await rows.count()) === count - 1, { what: 'the pattern to be gone' });
    assert.match(parameter('query') ?? '', /^service:payment -\(/);
    const logs = await rows.nth(1).getByRole('cell').nth(2).innerText();
    await rows
      .nth(1)
      .getByRole('button', { name: /^Only this: / })
      .click();
    await page.getByRole('tab', { name: 'Logs', selected: true }).waitFor();
    const total = page.getByRole('region', { name: 'Logs over time' }).getByRole('status');
    await total.filter({ hasText: new RegExp(`^${logs} logs?$`) }).waitFor();
    assert.equal(parameter('log'), null);
  });

  test('the variables of a pattern are columns of its logs', async () => {
    await go(`tab=patterns&${range()}&query=service:payment`);
    const asColumns = page.getByRole('button', { name: /^Variables as columns: / }).first();
    const template = (await asColumns.getAttribute('aria-label'))!;
    const [, variable = ''] = /<(\S+?)>/.exec(template) ?? [];
    await asColumns.click();
    await page.getByRole('tab', { name: 'Logs', selected: true }).waitFor();
    const titles = page.getByRole('columnheader');
    await page.getByRole('columnheader', { name: variable, exact: true }).waitFor();
    const at = (await titles.allTextContents()).indexOf(variable);
    const value = page.getByRole('row').nth(1).getByRole('gridcell').nth(at);
    await until(async () => (await value.innerText()) !== '', { what: 'a value of the variable' });
  });

  test('a comparison names the customer of the incident, and a click filters by it', async () => {
    await go(`tab=compare&${range()}`);
    const rows = table(/^Values that differ/).getByRole('row');
    const first = rows.nth(1);
    await first.getByRole('rowheader', { name: `customer.id: ${incident.customer}` }).waitFor();
    await assertAccessible(page, 'a comparison');
    await first.getByRole('button', { name: /^Only this: / }).click();
    await until(() => parameter('query') === `customer.id:${incident.customer}`, {
      what: 'the filter',
    });
    await go(`tab=compare&${range()}&query=severity:error`);
    await page
      .getByRole('combobox', { name: 'Compare with' })
      .selectOption('other logs of this time');
    await rows.getByRole('rowheader', { name: `version: ${incident.version}` }).waitFor();
    assert.equal(parameter('baseline'), 'others');
  });

  test('statistics have a table and a chart', async () => {
    await go('tab=stats&range=1d');
    await table(/^count of the range/).waitFor();
    await page.getByRole('combobox', { name: 'Statistic' }).selectOption('p95');
    await page.getByRole('textbox', { name: 'Field' }).fill('label.duration_ms');
    await page.getByRole('button', { name: 'Compute' }).click();
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('Service');
    const groups = table(/^p95\(label.duration_ms\) of the range/).getByRole('row');
    await groups.filter({ hasText: 'checkout' }).waitFor();
    await page.getByRole('img', { name: /^p95.* in steps of 15m: \d+ lines/ }).waitFor();
    assert.equal(parameter('stat'), 'p95(label.duration_ms)');
    assert.equal(parameter('by'), 'serviceName');
    await assertAccessible(page, 'statistics');
  });

  test('statistics over time that cannot be read say so, beside those of the range', async () => {
    const overTime = /stats\?.*step=/;
    await page.route(overTime, (route) => route.fulfill({ status: 500, json: {} }));
    await go('tab=stats&range=1d');
    await table(/^count of the range/).waitFor();
    const fault = page.getByRole('alert');
    await fault.waitFor();
    await page.unroute(overTime);
    await fault.getByRole('button', { name: 'Try again' }).click();
    await fault.waitFor({ state: 'detached' });
  });

  test('percentiles of a sample say so, and can be computed from all logs', async () => {
    const stat = 'p95(label.duration_ms)';
    const ofSample = /stats\?(?!.*exact=true)/;
    await page.route(ofSample, async (route) => {
      const rows = [{ time: new Date().toISOString(), by: {}, values: { [stat]: 120 } }];
      await route.fulfill({ json: { exact: false, sampled: 400_123, rows } });
    });
    await go(`tab=stats&range=1d&stat=${stat}`);
    const note = page.getByText('Estimated from a sample of 400,123 logs.');
    await note.waitFor();
    await assertAccessible(page, 'statistics of a sample');
    await page.getByRole('button', { name: 'Read all logs' }).click();
    await note.waitFor({ state: 'detached' });
    await page.unroute(ofSample);
  });

  test('tables fit a phone', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const [tab, name] of [
      ['patterns', /^Patterns/],
      ['compare', /^Values that differ/],
      ['stats', /of the range/],
    ] as const) {
      await go(`tab=${tab}&${range()}`);
      await table(name).waitFor();
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(overflow, 0, tab);
      await assertAccessible(page, `${tab} on a phone`);
    }
  });
});
