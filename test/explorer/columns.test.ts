/** Columns of the list: sorted, resized, moved, and made from JSON. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, startExplorer, type WatchedPage } from './explorer.ts';

suite('columns of the list', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    explorer = await startExplorer();
    const { service } = explorer;
    const startedAt = Date.now();
    await service.postLogs(
      [9, 100, 11, 2].map((size, index) => ({
        message: JSON.stringify({ order: { size, state: `s${index}` }, at: index }),
        severity: 'INFO',
        service_name: 'shop',
        host: `node-${index}`,
        timestamp: new Date(startedAt - 60_000 - index * 1000).toISOString(),
        labels: { customer: `c${index}`, lines: `one\n  two ${index}` },
      })),
    );
    await until(async () => (await service.list({})).logs.length === 4, { what: 'the logs' });
    watched = await explorer.open('/explore/logs', { viewport: { width: 1280, height: 900 } });
    ({ page } = watched);
    await page.getByRole('row').nth(4).waitFor();
  });
  after(async () => {
    try {
      await watched.close();
    } finally {
      await explorer.close();
    }
  });
  const titles = () => page.getByRole('columnheader').allTextContents();
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true });
  const title = (name: string) => head(name).getByText(name, { exact: true });
  const pick = async (column: string, item: string) => {
    await page.getByRole('button', { name: `Column ${column}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const cells = async (column: number) => {
    const rows = page.locator('[role=row]:not([data-detail])');
    return (await rows.locator(`[role=gridcell]:nth-child(${column + 1})`).allInnerTexts()).map(
      (text) => text.trim(),
    );
  };
  const untilTitles = (expected: readonly string[]) =>
    until(async () => (await titles()).slice(2, -1).join() === expected.join(), {
      what: `columns ${expected.join()}`,
    });

  test('a value of several lines stays in its row', async () => {
    await page.goto(`${page.url()}?column=label.lines`);
    await until(async () => (await cells(2))[0] === 'one ⏎ two 0', { what: 'one line' });
    await page.goto(page.url().replace(/\?.*/, ''));
    await page.getByRole('row').nth(4).waitFor();
  });

  test('a key of JSON becomes a column, which sorts by number', async () => {
    await page.getByRole('row').nth(1).click();
    await page.getByRole('button', { name: '"size"' }).click();
    await assertAccessible(page, 'the menu of a key');
    await page.getByRole('menuitem', { name: 'Show order.size as a column' }).click();
    await untilTitles(['Service', 'Host', 'order.size']);
    await page.getByRole('row').nth(1).click();
    await title('order.size').click();
    await until(async () => (await cells(4)).join() === '2,9,11,100', { what: 'ascending sizes' });
    assert.equal(await head('order.size').getAttribute('aria-sort'), 'ascending');
    await page.reload();
    await page.getByRole('grid', { name: 'Logs, sorted by order.size, ascending' }).waitFor();
    await assertAccessible(page, 'a sorted list');
    await title('order.size').click();
    await until(async () => (await cells(4)).join() === '100,11,9,2', { what: 'descending sizes' });
    await pick('order.size', 'Sort by time');
    await until(async () => (await cells(4)).join() === '9,100,11,2', { what: 'the newest first' });
  });

  test('a key of JSON filters by its value', async () => {
    await page.getByRole('row').nth(1).click();
    await page.getByRole('button', { name: '"size"' }).click();
    await page.getByRole('menuitem', { name: 'Without order.size 9' }).click();
    await until(async () => (await cells(4)).join() === '100,11,2', { what: 'the other sizes' });
    await page.getByRole('row').nth(1).click();
    await page.getByRole('button', { name: '"state"' }).click();
    await page.getByRole('menuitem', { name: 'Only order.state s1' }).click();
    await until(async () => (await cells(4)).join() === '100', { what: 'one size' });
    await page.goBack();
    await page.goBack();
    await until(async () => (await cells(4)).length === 4, { what: 'all logs' });
  });

  test('columns move by dragging and by their menu', async () => {
    await title('order.size').dragTo(title('Service'));
    await untilTitles(['order.size', 'Service', 'Host']);
    await pick('order.size', 'Move right');
    await untilTitles(['Service', 'order.size', 'Host']);
    await pick('Host', 'Remove');
    await untilTitles(['Service', 'order.size']);
    await pick('order.size', 'Move left');
    await untilTitles(['order.size', 'Service']);
  });

  test('columns resize by dragging an edge and by keyboard, and keep their width', async () => {
    const widthOf = async () => Math.round((await head('Service').boundingBox())!.width);
    const usual = await widthOf();
    const edge = (await head('Service').locator('[data-edge]').boundingBox())!;
    await page.mouse.move(edge.x + edge.width / 2, edge.y + 10);
    await page.mouse.down();
    await page.mouse.move(edge.x + edge.width / 2 + 90, edge.y + 10, { steps: 4 });
    await page.mouse.up();
    assert.equal(await widthOf(), usual + 90);
    const cell = page.getByRole('row').nth(1).getByRole('gridcell').nth(3);
    assert.equal(Math.round((await cell.boundingBox())!.width), usual + 90);
    await untilTitles(['order.size', 'Service']);
    await page.reload();
    await page.getByRole('row').nth(1).waitFor();
    assert.equal(await widthOf(), usual + 90);
    await page.getByRole('button', { name: 'Column Service' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Sort ascending' }).waitFor();
    await page.keyboard.press('N');
    await page.keyboard.press('Enter');
    await until(async () => (await widthOf()) === usual + 50, { what: 'a narrower column' });
    await pick('Service', 'Usual width');
    await until(async () => (await widthOf()) === usual, { what: 'the usual width' });
  });

  test('a wide list scrolls inside, and a phone shows no columns', async () => {
    for (let times = 0; times < 30; times += 1) await pick('Service', 'Wider');
    const overflow = () =>
      page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
    assert.equal(await overflow(), 0);
    await page.setViewportSize({ width: 390, height: 800 });
    assert.equal(await overflow(), 0);
    await head('Service').waitFor({ state: 'hidden' });
    await assertAccessible(page, 'a list on a phone');
  });
});
