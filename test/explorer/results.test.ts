/**
 * The result list: expand, filter, copy, columns, context, links, export and live tail, with
 * hostile content.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createAccessToken } from '../harness/control.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import {
  type Explorer,
  missingBrowser,
  signIn,
  startExplorer,
  type WatchedPage,
} from './explorer.ts';

const bigJson = '{"id":9007199254740993123,"rate":1.0,"nested":{"list":[1,2,{"none":null}]}}';
const longLine = `${'long '.repeat(209_714)}START`;
const hostile =
  '<img src=//evil.example/x onerror=alert(1)><script>alert(2)</script>' +
  '\u001b[2J\u0000 user\u202egnp.exe zero\u200bwidth';
const trace = 'Traceback (most recent call last):\n  File "app.py", line 3\nValueError: no';
const total = 400;

suite('list of logs', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  let watched: WatchedPage;
  let page: Page;
  const startedAt = Date.now();
  before(async () => {
    explorer = await startExplorer({ arePortsKept: true });
    const messages = [bigJson, hostile, trace, longLine];
    const logs = Array.from({ length: total }, (_, index) => ({
      message: messages[index] ?? nameOf(index),
      severity: ['INFO', 'ERROR', 'WARN', 'DEBUG'][index % 4],
      service_name: ['orders', 'checkout'][index % 2],
      host: `node-${index % 3}`,
      timestamp: new Date(startedAt - 60_000 - index * 100).toISOString(),
      labels: {
        customer: `c${index % 7}`,
        [hostile.slice(0, 60)]: hostile,
        ...(index === 20 && { body: 'y'.repeat(5_000) }),
      },
      trace_id: '0af7651916cd43dd8448eb211c80319c',
    }));
    await explorer.service.postLogs(logs);
    const { service } = explorer;
    await until(async () => (await service.list({ limit: 1000 })).logs.length === total, {
      what: 'the logs',
    });
    watched = await explorer.open('/explore/logs', {
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1280, height: 900 },
    });
    ({ page } = watched);
    await rowOf(page, 'event 005').waitFor();
  });
  after(async () => {
    try {
      await watched.close();
    } finally {
      await explorer.close();
    }
  });
  /** Each test navigates to a new list without reloading the explorer. */
  const begin = async (search = '') => {
    await goWithin(page, '/tokens');
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
    await goWithin(page, `/explore/logs${search}`);
    await page.getByRole('row').nth(1).waitFor();
  };

  test('expands a row, filters by a value and copies one', async () => {
    await rowOf(page, 'event 005').click();
    const detail = page.getByRole('grid').getByRole('term').first();
    await detail.waitFor();
    await assertAccessible(page, 'an open row');
    await page.getByRole('button', { name: 'Copy Trace id' }).click();
    assert.equal(await clipboard(page), '0af7651916cd43dd8448eb211c80319c');
    await page.getByRole('button', { name: 'Show customer as a column' }).click();
    await page.getByRole('columnheader', { name: 'customer' }).waitFor();
    assert.match(page.url(), /column=label\.customer/);
    await page.getByRole('button', { name: 'Only Host node-2' }).click();
    await rowOf(page, 'event 004').waitFor({ state: 'detached' });
    assert.match(page.url(), /query=host:node-2/);
    await rowOf(page, 'event 008').waitFor();
    await begin();
    await rowOf(page, 'event 005').click();
    await page.getByRole('button', { name: 'Without Service checkout' }).click();
    await rowOf(page, 'event 007').waitFor({ state: 'detached' });
    await rowOf(page, 'event 006').waitFor();
    assert.match(page.url(), /query=-service:checkout/);
  });

  test('does not filter by a value for which a query has no room', async () => {
    await begin();
    await rowOf(page, 'event 020').click();
    for (const name of [/^Only body yyy/, /^Without body yyy/]) {
      const address = page.url();
      await page.getByRole('button', { name }).click();
      await page.getByText('A query has at most 4,000 characters').first().waitFor();
      assert.equal(page.url(), address);
      await rowOf(page, 'event 019').waitFor();
    }
  });

  test('keeps the height of an expanded row when columns change', async () => {
    await begin('?search=%22event+005%22');
    await rowOf(page, 'event 005').click();
    const action = page.getByRole('button', { name: 'Show customer as a column' });
    await action.click();
    await page.getByRole('columnheader', { name: 'customer' }).waitFor();
    const [row, end] = await Promise.all([
      action.boundingBox(),
      page.getByText('No more logs since').boundingBox(),
    ]);
    assert.ok(end!.y >= row!.y + row!.height, 'the end of the list is below the row');
  });

  test('loads while scrolling and shows the end', async () => {
    await begin();
    const grid = page.getByRole('grid');
    await until(
      async () => {
        await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return rowOf(page, nameOf(total - 1)).isVisible();
      },
      { what: 'the oldest log' },
    );
    await page.getByText('No more logs since').waitFor();
    assert.equal(await grid.getAttribute('aria-rowcount'), String(total + 1));
    assert.ok((await page.getByRole('row').count()) < 100, 'only visible rows are rendered');
  });

  test('lists the oldest first, except in live mode', async () => {
    await begin();
    await page.getByRole('button', { name: 'Newest first; switch' }).click();
    await rowOf(page, nameOf(total - 1)).waitFor();
    const first = page.getByRole('row').nth(1);
    assert.match(await first.innerText(), new RegExp(nameOf(total - 1)));
    assert.match(page.url(), /order=asc/);
    await assertAccessible(page, 'a list from the oldest log');
    await page.reload();
    const grid = page.getByRole('grid', { name: 'Logs, oldest first' });
    await until(
      async () => {
        await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return page.getByText('No more logs until').isVisible();
      },
      { what: 'the newest log' },
    );
    assert.equal(await grid.getAttribute('aria-rowcount'), String(total + 1));
    await page.keyboard.press('t');
    await page.getByRole('grid', { name: 'Logs, newest first' }).waitFor();
    assert.match(page.url(), /live=1/);
    assert.doesNotMatch(page.url(), /order=/);
    await page.getByRole('button', { name: 'Newest first; switch' }).click();
    await grid.waitFor();
    assert.doesNotMatch(page.url(), /live=/);
  });

  test('selects columns and keeps them in the URL', async () => {
    await begin();
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    await page.getByRole('button', { name: 'Remove Host' }).click();
    await page.getByLabel('Add a field or a label').fill('any.label');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Move any.label to the left' }).click();
    await page.keyboard.press('Escape');
    const heads = page.getByRole('columnheader');
    await until(async () => (await heads.allTextContents()).includes('any.label'), {
      what: 'the column',
    });
    const day = new Date(startedAt - 60_000).toISOString().slice(0, 10);
    const expected = [`Time ${day}`, 'Severity', 'any.label', 'Service', 'Message'];
    assert.deepEqual(await heads.allTextContents(), expected);
    await page.reload();
    await page.getByRole('row').nth(1).waitFor();
    assert.deepEqual(await heads.allTextContents(), expected);
  });

  test('wraps lines', async () => {
    await begin();
    const heightOf = async () => (await rowOf(page, 'Traceback').boundingBox())!.height;
    const height = await heightOf();
    await page.keyboard.press('w');
    await until(async () => (await heightOf()) >= 2 * height, { what: 'a taller row' });
    assert.match(page.url(), /wrap=1/);
    await page.keyboard.press('w');
    await until(async () => (await heightOf()) === height, { what: 'a row with one line' });
  });

  test('indents JSON without changing digits', async () => {
    await rowOf(page, '9007199254740993123').click();
    const message = page.getByLabel('Message', { exact: true });
    assert.match(
      await message.innerText(),
      /\n {2}"id": 9007199254740993123,\n {2}"rate": 1\.0,\n/,
    );
    await page.getByRole('button', { name: 'As sent' }).click();
    assert.equal(await message.innerText(), bigJson);
    await page.getByRole('button', { name: 'Copy the message' }).click();
    assert.equal(await clipboard(page), bigJson);
  });

  test('shows a part of a megabyte line, and all of it on request', async () => {
    await begin('?search=START');
    await rowOf(page, 'long long').click();
    const message = page.getByLabel('Message', { exact: true });
    assert.ok((await message.innerText()).length < 11_000);
    await page.getByRole('button', { name: /Show all 1,048,57\d characters/ }).click();
    await page.getByRole('button', { name: 'Show the beginning only' }).first().waitFor();
    assert.equal((await message.textContent())?.split('START').length, 2);
  });

  test('shows hostile content as text', async () => {
    await begin('?search=evil');
    await rowOf(page, 'evil.example').click();
    const message = page.getByLabel('Message', { exact: true });
    const shown = (await message.innerText()).replaceAll('\n', '');
    assert.ok(shown.includes('<script>alert(2)</script>ESC[2JNUL userU+202Egnp.exe'), shown);
    await page.getByRole('button', { name: '{ } JSON' }).click();
    await page.getByLabel('Log as JSON').waitFor();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.deepEqual(watched.faults, []);
  });

  test('shows a log in its context, optionally of its host only', async () => {
    await begin();
    await rowOf(page, 'event 015').click();
    await page.getByRole('button', { name: 'In context' }).click();
    const sheet = page.getByRole('dialog', { name: 'In context' });
    await sheet.getByRole('row', { name: 'This log: event 015' }).waitFor();
    await sheet.getByRole('row', { name: 'event 016' }).waitFor();
    await assertAccessible(page, 'a context');
    await sheet.getByRole('button', { name: 'Same host: node-0' }).click();
    await sheet.getByRole('row', { name: 'event 016' }).waitFor({ state: 'detached' });
    await sheet.getByRole('row', { name: 'event 018' }).waitFor();
    await sheet.getByRole('button', { name: 'Load older' }).click();
    await until(
      async () => Number(await sheet.getByRole('grid').getAttribute('aria-rowcount')) > 100,
      { what: 'older logs' },
    );
    await sheet.getByRole('row', { name: 'This log: event 015' }).waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('keys of the page do nothing behind the context of a log', async () => {
    await begin();
    await rowOf(page, 'event 015').click();
    await page.keyboard.press('c');
    const sheet = page.getByRole('dialog', { name: 'In context' });
    const active = sheet.locator('[role=row][class*=active]');
    await sheet.getByRole('row', { name: 'This log: event 015' }).waitFor();
    const url = page.url();
    for (const key of ['[', 'z', 't', 'w', '/']) await page.keyboard.press(key);
    await page.keyboard.press('j');
    await active.waitFor();
    assert.equal(page.url(), url);
    const shown = await active.innerText();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByRole('heading', { name: 'In context' }).waitFor();
    // Of the list behind it.
    assert.equal(await help.getByText('Show the log in context').count(), 1);
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    assert.equal(await active.innerText(), shown);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('w');
    await page.waitForURL(/wrap=1/);
    await page.keyboard.press('w');
  });

  test('a late page of another context is not shown', async () => {
    await begin();
    await rowOf(page, 'event 015').click();
    await page.getByRole('button', { name: 'In context' }).click();
    const sheet = page.getByRole('dialog', { name: 'In context' });
    await sheet.getByRole('row', { name: 'event 016' }).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const isPage = (url: URL) => url.pathname === '/api/v1/logs' && url.searchParams.has('cursor');
    await page.route(isPage, async (route) => {
      await released;
      await route.continue();
    });
    const answered = page.waitForResponse((response) => isPage(new URL(response.url())));
    await sheet.getByRole('button', { name: 'Load older' }).click();
    await sheet.getByRole('button', { name: 'Same host: node-0' }).click();
    await sheet.getByRole('row', { name: 'event 016' }).waitFor({ state: 'detached' });
    const rowCount = () => sheet.getByRole('grid').getAttribute('aria-rowcount');
    const own = await rowCount();
    release();
    await (await answered).finished();
    await page.unroute(isPage);
    await sheet.getByRole('button', { name: 'Load older' }).waitFor();
    assert.equal(await rowCount(), own);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('a page of a context that fails is tried again in its place', async () => {
    await begin();
    await rowOf(page, 'event 015').click();
    await page.getByRole('button', { name: 'In context' }).click();
    const sheet = page.getByRole('dialog', { name: 'In context' });
    await sheet.getByRole('row', { name: 'event 016' }).waitFor();
    const rowCount = async () =>
      Number(await sheet.getByRole('grid').getAttribute('aria-rowcount'));
    const loaded = await rowCount();
    const isPage = (url: URL) => url.pathname === '/api/v1/logs' && url.searchParams.has('cursor');
    await page.route(isPage, (route) => route.fulfill({ status: 500, json: {} }));
    await sheet.getByRole('button', { name: 'Load older' }).click();
    const fault = sheet.getByRole('alert');
    await fault.waitFor();
    await page.unroute(isPage);
    await fault.getByRole('button', { name: 'Try again' }).click();
    await fault.waitFor({ state: 'detached' });
    await until(async () => (await rowCount()) > loaded, { what: 'older logs' });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('a context of one host that fails leaves the list before it', async () => {
    await begin();
    await rowOf(page, 'event 015').click();
    await page.getByRole('button', { name: 'In context' }).click();
    const sheet = page.getByRole('dialog', { name: 'In context' });
    const other = sheet.getByRole('row', { name: 'event 016' });
    await other.waitFor();
    const isContext = (url: URL) =>
      url.pathname.endsWith('/context') && url.search.includes('same');
    await page.route(isContext, (route) => route.fulfill({ status: 500, json: {} }));
    await sheet.getByRole('button', { name: 'Same host: node-0' }).click();
    await sheet.getByRole('alert').waitFor();
    assert.equal(await other.count(), 1);
    await page.unroute(isContext);
    await sheet.getByRole('button', { name: 'Try again' }).click();
    await other.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('opens a linked log that is not in the list', async () => {
    await begin();
    await rowOf(page, 'event 005').click();
    await page.getByRole('button', { name: 'Link' }).click();
    const link = new URL(await clipboard(page));
    link.searchParams.set('range', '1s');
    await page.goto(link.href);
    const linked = page.getByRole('region', { name: 'Linked log' });
    await linked.getByText('event 005', { exact: true }).waitFor();
    await page.getByText('No logs match').waitFor();
    await linked.getByRole('button', { name: 'Close the linked log' }).click();
    await linked.waitFor({ state: 'detached' });
    await page.goto(link.href.replace(/log=[\da-f]{4}/, 'log=0000'));
    await linked.getByText('Log not found').waitFor();
  });

  test('exports all logs as a file', async () => {
    await begin();
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByText(`${total} logs of this search`).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'NDJSON' }).click();
    const download = await downloading;
    assert.ok(!download.url().includes('wra_'));
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n');
    assert.equal(lines.length, total);
    const ids = new Set(lines.map((line) => (JSON.parse(line) as { logId: string }).logId));
    assert.equal(ids.size, total);
  });

  test('works by keyboard', async () => {
    await begin();
    const grid = page.getByRole('grid');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    const active = page.locator('[role=row][class*=active]');
    await active.filter({ hasText: '9007199254740993123' }).waitFor();
    await page.keyboard.press('o');
    await page.getByLabel('Message', { exact: true }).waitFor();
    // The list has the focus, so its keys work from here on.
    await page.keyboard.press('Enter');
    await page.getByLabel('Message', { exact: true }).waitFor({ state: 'detached' });
    await page.keyboard.press('End');
    await until(async () => (await activeIndex(grid)) >= 199, { what: 'the last row' });
    await page.keyboard.press('Home');
    await until(async () => (await activeIndex(grid)) === 0, { what: 'the first row' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'In context' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('shows the first line of a log that is opened by keyboard', async () => {
    await begin();
    const grid = page.getByRole('grid');
    const active = page.locator('[role=row][class*=active]');
    const observed = page.getByText('Observed', { exact: true });
    // Whether it was scrolled away depended on the time between the keys.
    for (let times = 0; times < 8; times += 1) {
      await page.keyboard.press('j');
      await activeIndex(grid);
      await page.keyboard.press('o');
      await observed.waitFor();
      await untilFrames(page, 10);
      const [line, list] = await Promise.all([active.boundingBox(), grid.boundingBox()]);
      assert.ok(line!.y > list!.y, `the line is at ${line!.y} px, the list at ${list!.y}`);
      await page.keyboard.press('o');
      await observed.waitFor({ state: 'detached' });
    }
  });

  test('follows new logs, and holds them while paused or scrolled down', async () => {
    const { service } = explorer;
    const send = (message: string) => service.postLogs([{ message, severity: 'INFO' }]);
    await begin();
    await page.keyboard.press('t');
    await page.getByText('Live', { exact: true }).nth(1).waitFor();
    await send('first of the tail');
    await rowOf(page, 'first of the tail').waitFor();
    await assertAccessible(page, 'a live list');
    await page.getByRole('button', { name: 'Pause' }).click();
    await send('second of the tail');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    assert.equal(await rowOf(page, 'second of the tail').count(), 0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await rowOf(page, 'second of the tail').waitFor();

    await page.getByRole('grid').evaluate((element) => element.scrollTo(0, 2000));
    const read = rowOf(page, 'event 090');
    await read.waitFor();
    const place = await read.boundingBox();
    await send('third of the tail');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    assert.deepEqual(await read.boundingBox(), place);
    await page.getByRole('button', { name: '1 new' }).click();
    await rowOf(page, 'third of the tail').waitFor();
    await page.keyboard.press('t');
    await page.getByText('Live', { exact: true }).nth(1).waitFor({ state: 'detached' });
    assert.equal(await rowOf(page, 'third of the tail').count(), 1);
  });

  test('after live mode the counts are those of the list', async () => {
    const { service } = explorer;
    await begin('?search=%22event+39%22');
    const counted = page.getByRole('region', { name: 'Logs over time' }).getByRole('status');
    await page.keyboard.press('t');
    await page.getByText('Live', { exact: true }).nth(1).waitFor();
    await service.postLogs(['one', 'two'].map((word) => ({ message: `event 39 ${word}` })));
    await rowOf(page, 'event 39 two').waitFor();
    await page.keyboard.press('t');
    await until(async () => (await counted.innerText()) === '12 logs', {
      what: 'the counts to include the live logs',
    });
    await page.getByRole('toolbar').getByText('12 logs', { exact: true }).waitFor();
  });

  test('the key of live mode works on an empty result', async () => {
    await goWithin(page, '/explore/logs?search=not+sent+yet');
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
    await page.keyboard.press('t');
    await page.getByText('Live', { exact: true }).nth(1).waitFor();
    await explorer.service.postLogs([{ message: 'this was not sent yet' }]);
    await rowOf(page, 'this was not sent yet').waitFor();
    await page.keyboard.press('t');
    await page.getByText('Live', { exact: true }).nth(1).waitFor({ state: 'detached' });
  });

  test('marks the search, colours JSON, offers its labels, folds long messages', async () => {
    const frames = Array.from({ length: 30 }, (_, at) => `  at frame${at} (app.js:${at})`);
    const sent = [
      { message: `Quirk: no socket\n${frames.join('\n')}`, severity: 'ERROR' },
      { message: '{"quirk":{"plan":"gold","size":1.50}}', labels: { plan: 'gold' } },
    ];
    await explorer.service.postLogs(sent);
    await until(
      async () => (await explorer.service.list({ search: 'quirk' })).logs.length === sent.length,
      { what: 'both logs to be readable' },
    );
    await begin('?search=quirk');
    await rowOf(page, 'no socket').waitFor();
    assert.deepEqual(await page.locator('mark').allInnerTexts(), ['quirk', 'Quirk']);
    await rowOf(page, 'no socket').click();
    const message = page.locator('pre[aria-label=Message]');
    await page.getByRole('button', { name: 'Show 11 more lines' }).waitFor();
    assert.doesNotMatch(await message.innerText(), /frame20/);
    await page.getByRole('button', { name: 'Show 11 more lines' }).click();
    assert.match(await message.innerText(), /frame29/);
    await rowOf(page, 'no socket').click();
    await rowOf(page, 'gold').click();
    assert.match(await message.innerText(), /"size": 1\.50\n/);
    await page.locator('[data-is-old=true]').waitFor({ state: 'detached' });
    await assertAccessible(page, 'a coloured message');
    await page.getByRole('button', { name: '"plan"' }).click();
    await page.getByRole('menuitem', { name: 'Only plan gold' }).click();
    await page.getByText('plan is gold').waitFor();
    await page.getByRole('button', { name: 'Draw errors only' }).click();
    await page.getByRole('slider', { name: 'Errors over time' }).waitFor();
    await page.getByText(/^None from/).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Draw errors only' }).click();
  });

  test('a trace id leads to the logs of all services, and back', async () => {
    await begin('?search=%22event+02%22');
    await rowOf(page, 'event 021').click();
    await page.getByRole('link', { name: '0af7651916cd43dd8448eb211c80319c' }).click();
    await page.getByRole('heading', { name: 'Trace 0af7651916cd43dd8448eb211c80319c' }).waitFor();
    await page.getByText('2 services, 400 logs').waitFor();
    const first = page.getByRole('row').nth(1);
    assert.match(await first.innerText(), /event 399/);
    await assertAccessible(page, 'a trace');
    await page.getByRole('button', { name: /^checkout\s*39\.8 s\s*200 logs, 100 errors$/ }).click();
    assert.match(await first.innerText(), /checkout/);
    await page.getByRole('link', { name: 'Search and filter these logs' }).click();
    await page.getByText('Trace id is 0af7651916cd43dd8448eb211c80319c').waitFor();
    const counts = page.getByRole('region', { name: 'Logs over time' });
    await counts.getByText('400 logs').waitFor();
    await goWithin(page, '/explore/traces/00000000000000000000000000000001');
    await page.getByRole('heading', { name: 'No log of this trace' }).waitFor();
  });

  test('resumes the tail after a restart', async () => {
    const { service } = explorer;
    const other = await explorer.open('/explore/logs?live=1');
    await other.page.getByText('Live', { exact: true }).nth(1).waitFor();
    await service.kill('SIGTERM');
    await other.page.getByText('Reconnecting…').waitFor();
    await service.start();
    await service.postLogs([{ message: 'after the restart', severity: 'INFO' }]);
    await rowOf(other.page, 'after the restart').waitFor();
    await rowOf(other.page, 'third of the tail').waitFor();
    assert.equal(await rowOf(other.page, 'third of the tail').count(), 1);
    // The browser logs each failed attempt during the restart.
    const faults = other.faults.filter((fault) => !fault.includes('ERR_CONNECTION_REFUSED'));
    assert.deepEqual(faults, []);
    await other.page.context().close();
  });

  test('a token revoked during the tail leads back to sign-in', async () => {
    const { service } = explorer;
    const { token, tokenId } = await createAccessToken(service, ['logs:read']);
    const other = await explorer.visit('/explore/logs?live=1');
    await signIn(other.page, token);
    await other.page.getByText('Live', { exact: true }).nth(1).waitFor();
    await service.admin('POST', `/tokens/${tokenId}/revoke`);
    await other.page.getByText('no longer valid').waitFor();
    await other.close();
  });
});

async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

function nameOf(index: number): string {
  return `event ${String(index).padStart(3, '0')}`;
}

function rowOf(page: Page, text: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('gridcell', { name: text }) });
}

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** From 0; -1 while no row is active or the active one is not rendered. */
function activeIndex(grid: Locator): Promise<number> {
  return grid.evaluate((element) => {
    const active = document.getElementById(element.getAttribute('aria-activedescendant') ?? '');
    return Number(active?.dataset['index'] ?? -1);
  });
}

/** A list that scrolls again does so within a few frames. */
function untilFrames(page: Page, count: number): Promise<void> {
  return page.evaluate(
    (left) =>
      new Promise<void>((resolve) => {
        const wait = (frame: number) =>
          frame === 0 ? resolve() : requestAnimationFrame(() => wait(frame - 1));
        wait(left);
      }),
    count,
  );
}
