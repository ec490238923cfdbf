/**
 * Exploring logs in a real browser: first visit, search, filters, time range, facets, links, saved
 * views.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, startExplorer, type WatchedPage } from './explorer.ts';

const skip = missingBrowser() ?? false;
const orders = 60;
const oddKey = 'größe: "der, Kiste"';
/** Spread over the last 50 minutes; every sixth is an error, every other is from `search`. */
const events = Array.from({ length: orders }, (_, index) => ({
  message: index % 6 === 0 ? `payment timeout ${index}` : `order ${index} placed`,
  severity: index % 6 === 0 ? 'ERROR' : 'INFO',
  service_name: index % 2 === 0 ? 'checkout' : 'search',
  host: `web-${index % 3}`,
  timestamp: new Date(Date.now() - 5_000 - index * 50_000).toISOString(),
  labels: {
    customer: `c-${index % 3}`,
    ...(index % 4 === 0 && { [oddKey]: `x "${index % 8}"` }),
  },
}));

suite('exploring logs', { skip }, () => {
  let explorer: Explorer;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    explorer = await startExplorer();
    const permissions = ['clipboard-read', 'clipboard-write'];
    watched = await explorer.open('/', { permissions });
    page = watched.page;
  });
  after(async () => {
    await explorer.close();
  });
  const go = (search: string) =>
    page.goto(`${explorer.service.quickstart.streamUrl}/explore/logs${search}`);

  test('the first visit waits for the first log and shows it', async () => {
    await page.getByRole('heading', { name: 'Waiting for the first log' }).waitFor();
    assert.equal(
      await page.getByRole('link', { name: /^Send data/ }).getAttribute('href'),
      '/receivers',
    );
    await assertAccessible(page, 'the first visit');
    await explorer.service.postLogs(events.slice(0, 1));
    await total(page, '1 log');
    await page.getByText('payment timeout 0').first().waitFor();
    // A refresh finds the others.
    await explorer.service.postLogs(events.slice(1));
    await until(async () => (await explorer.service.list({})).logs.length === orders, {
      what: 'all logs to be readable',
    });
    await page.keyboard.press('r');
    await total(page, `${orders} logs`);
  });

  test('a refresh reads the list again, also within a bar and for fixed times', async () => {
    const day = new Date().toISOString().slice(0, 10);
    for (const range of ['range=30d', `from=${day}T00:00:00.000Z&until=${day}T23:59:59.999Z`]) {
      await go(`?query=order&${range}`);
      await page
        .getByText(/^\d+ logs$/)
        .first()
        .waitFor();
      const isList = (url: string) => new URL(url).pathname === '/api/v1/logs';
      const asked = page.waitForRequest((request) => isList(request.url()));
      await Promise.all([asked, page.keyboard.press('r')]);
    }
  });

  test('Enter runs the query, Escape leaves the box', async () => {
    await go('');
    await total(page, '60 logs');
    await page.keyboard.press('/');
    await page.keyboard.type('timeout');
    await page.keyboard.press('Enter');
    await total(page, '10 logs');
    assert.equal(queryOf(page).get('query'), 'timeout');
    await page.keyboard.type(' -30');
    await page.keyboard.press('Enter');
    await total(page, '9 logs');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Refresh, up to now').waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await total(page, '10 logs');
    assert.equal(await queryText(page), 'timeout');
    await page.getByRole('button', { name: 'Clear the query' }).click();
    await total(page, '60 logs');
    // Earlier queries, newest first.
    await page.keyboard.press('ArrowUp');
    assert.equal(await queryText(page), 'timeout -30');
    await page.keyboard.press('ArrowUp');
    assert.equal(await queryText(page), 'timeout');
    await page.keyboard.press('Enter');
    await total(page, '10 logs');
  });

  test('completes fields and values with counts of the other conditions', async () => {
    await go('?query=timeout');
    await total(page, '10 logs');
    await page.keyboard.press('/');
    await page.keyboard.press('End');
    await page.keyboard.type(' serv');
    await page.getByRole('listbox').getByRole('option', { name: 'service' }).first().waitFor();
    await page.keyboard.press('Tab');
    const offered = page.getByRole('listbox').getByRole('option', { name: /^checkout/ });
    await offered.waitFor();
    assert.match((await offered.innerText()).replaceAll(/\s+/g, ' '), /^checkout ?10$/);
    await assertAccessible(page, 'offered values');
    await page.keyboard.press('ArrowDown');
    await until(async () => (await offered.getAttribute('aria-selected')) === 'true', {
      what: 'the value to be chosen',
    });
    await until(
      async () => {
        await page.keyboard.press('Enter');
        return (await queryText(page)).trim() === 'timeout service:checkout';
      },
      { what: 'the value to be taken' },
    );
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Service is checkout', exact: true }).waitFor();
    await total(page, '10 logs');
  });

  test('completes keys and values that need quotes', async () => {
    await go('');
    await total(page, '60 logs');
    await page.keyboard.press('/');
    await page.keyboard.type('größ');
    const offered = page.getByRole('listbox').getByRole('option');
    await offered.filter({ hasText: oddKey }).waitFor();
    await page.keyboard.press('Tab');
    await offered.filter({ hasText: 'x "4"' }).waitFor();
    await page.keyboard.type('"x \\"4');
    await until(async () => (await offered.count()) === 1, { what: 'one value to be offered' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await total(page, '7 logs');
    await page.getByRole('button', { name: `${oddKey} is x "4"`, exact: true }).waitFor();
  });

  test('counts the values of labels on demand, also of logs without the label', async () => {
    await go('');
    await total(page, '60 logs');
    const side = page.getByRole('complementary', { name: 'Filter by value' });
    const group = side.getByRole('region', { name: oddKey });
    assert.equal(await group.getByRole('listitem').count(), 0);
    const title = group.getByRole('button', { name: oddKey, exact: true });
    await title.click();
    await group.getByRole('button', { name: 'x "0" 8' }).waitFor();
    await assertAccessible(page, 'values of a label');
    await group.getByRole('button', { name: 'none 45' }).click();
    await total(page, '45 logs');
    await group.getByRole('button', { name: 'x "4" 7' }).click();
    await total(page, '52 logs');
    await title.click();
  });

  test('hints at what a query that finds nothing may have meant', async () => {
    await go('?query=customer%3Dc-1+or+!x');
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
    const hints = page.getByRole('region', { name: 'Nothing found' }).getByRole('listitem');
    await hints.first().waitFor();
    assert.deepEqual(await hints.allInnerTexts(), [
      'customer=c-1 is looked for as it is. Did you mean customer:c-1?',
      'or is looked for as it is. Did you mean OR?',
      '!x is looked for as it is. Did you mean -x?',
    ]);
    await assertAccessible(page, 'hints');
  });

  test('shows where a query is wrong, and does not run it', async () => {
    await go('?query=timeout');
    await total(page, '10 logs');
    await page.keyboard.press('/');
    await page.keyboard.type('payment (');
    await page.keyboard.press('Enter');
    const fault = page.getByRole('alert').filter({ hasText: 'At position 10' });
    await fault.waitFor();
    assert.equal(queryOf(page).get('query'), 'timeout');
    await page.locator('.cm-lintPoint-error').waitFor({ state: 'attached' });
    await assertAccessible(page, 'a wrong query');
    await page.keyboard.press('Backspace');
    await fault.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    // Only the service knows which regular expressions it can use.
    await go('?query=a+%2F(%3F%3Db)%2F');
    await page.getByRole('search').getByText('At position 3: expected a regular').waitFor();
    await page.locator('.cm-lintRange-error').filter({ hasText: '/(?=b)/' }).waitFor();
    await page.getByText('The query cannot be read').waitFor();
    assert.equal(await page.getByRole('alert').count(), 1);
  });

  test('a click inverts a condition, Delete removes it, and the text follows', async () => {
    await go('?query=payment+severity%3Aerror+host%3Aweb-0');
    await total(page, '10 logs');
    await page.getByRole('button', { name: 'Host is web-0', exact: true }).click();
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
    assert.equal(await queryText(page), 'payment severity:error -host:web-0');
    await page.getByRole('button', { name: 'Severity is error', exact: true }).press('Delete');
    await until(async () => (await queryText(page)) === 'payment -host:web-0', {
      what: 'the text to follow',
    });
    await page.getByRole('button', { name: 'Remove: Host is not web-0' }).click();
    await total(page, '10 logs');
    await page.getByRole('button', { name: 'Clear the query' }).click();
    await total(page, '60 logs');
    assert.equal(queryOf(page).size, 0);
  });

  test('reads the filters of older links', async () => {
    await go('?search=payment&severity=ERROR&exclude=host:web-1');
    await total(page, '10 logs');
    assert.equal(await queryText(page), 'payment severity:ERROR -host:web-1');
    await page.getByRole('button', { name: 'Host is not web-1', exact: true }).click();
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
  });

  test('dragging over the histogram narrows list, counts and URL', async () => {
    await go('');
    await total(page, '60 logs');
    await drag(page, [0.4, 0.8], () => page.keyboard.press('Escape'));
    assert.equal(queryOf(page).size, 0);
    await drag(page, [0.4, 0.8]);
    await page.waitForURL(/from=/);
    const [from, until_] = ['from', 'until'].map((name) => queryOf(page).get(name)!);
    const range = { sinceTime: from!, untilTime: until_! };
    const { logs } = await explorer.service.list({ ...range, limit: 1000 });
    assert.ok(logs.length > 10 && logs.length < 50, `${logs.length} logs in the brushed range`);
    await total(page, `${logs.length} logs`);
    const facet = await explorer.service.facet('service', range);
    const { value, count } = facet.values[0]!;
    await page.getByRole('button', { name: `${value} ${count}` }).waitFor();
  });

  test('reads no counts of the histogram until they are those of the query', async () => {
    const loading = page.locator('[role=slider][aria-valuetext="Loading the counts"]');
    const isHistogram = (url: URL) => url.pathname === '/api/v1/histogram';
    let held = Promise.withResolvers<void>();
    await page.route(isHistogram, async (route) => {
      await held.promise;
      await route.continue();
    });
    await go('');
    await loading.waitFor();
    held.resolve();
    await total(page, '60 logs');
    await loading.waitFor({ state: 'detached' });
    held = Promise.withResolvers<void>();
    await drag(page, [0.4, 0.8]);
    await loading.waitFor();
    await total(page, '…');
    const panel = page.getByRole('region', { name: 'Logs over time' });
    assert.doesNotMatch((await panel.getByRole('list').textContent()) ?? '', /\d/);
    held.resolve();
    await loading.waitFor({ state: 'detached' });
    await page.unroute(isHistogram);
  });

  test('selects bars by keyboard', async () => {
    await go('');
    await total(page, '60 logs');
    const bars = page.getByRole('slider', { name: 'Logs over time' });
    await bars.focus();
    await page.keyboard.press('End');
    const last = await bars.getAttribute('aria-valuetext');
    await page.keyboard.press('Shift+Home');
    assert.notEqual(await bars.getAttribute('aria-valuetext'), last);
    await page.keyboard.press('Escape');
    assert.equal(queryOf(page).size, 0);
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+PageDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=/);
    const [from, until_] = ['from', 'until'].map((name) => queryOf(page).get(name)!);
    const range = { sinceTime: from!, untilTime: until_! };
    const { logs } = await explorer.service.list({ ...range, limit: 1000 });
    assert.ok(logs.length < 20, `${logs.length} logs in a tenth of the range`);
    await total(page, `${logs.length} logs`);
    // The new range may have fewer bars.
    const numberOf = async (name: string) => Number(await bars.getAttribute(name));
    const [bar, count] = [await numberOf('aria-valuenow'), await numberOf('aria-valuemax')];
    assert.ok(bar <= count, `bar ${bar} of ${count}`);
    for (let times = 0; times < 4; times += 1) await page.keyboard.press('z');
    await total(page, '60 logs');
  });

  test('groups the histogram by any field, and changes its height by keyboard', async () => {
    await go('');
    await total(page, '60 logs');
    await page.getByLabel('Group the histogram by').selectOption('Service');
    await page.getByRole('list', { name: 'By service' }).getByText('checkout').waitFor();
    const legend = page.getByRole('list', { name: 'By service' }).getByRole('listitem');
    assert.deepEqual(
      (await legend.allInnerTexts()).map((text) => text.trim().replace(/\s+/, ' ')).toSorted(),
      ['checkout 30', 'search 30'],
    );
    assert.equal(queryOf(page).get('group'), 'serviceName');
    // Labels are offered once the list is near.
    const groups = page.getByLabel('Group the histogram by');
    await groups.hover();
    await groups.selectOption('customer');
    await page.getByRole('list', { name: 'By customer' }).waitFor();
    assert.equal(queryOf(page).get('group'), 'label.customer');
    const handle = page.getByRole('separator', { name: 'Height of the histogram' });
    const height = Number(await handle.getAttribute('aria-valuenow'));
    await handle.press('ArrowDown');
    await until(async () => Number(await handle.getAttribute('aria-valuenow')) === height + 16, {
      what: 'a taller histogram',
    });
    await page.locator('[data-is-old=true]').first().waitFor({ state: 'detached' });
    await assertAccessible(page, 'a grouped histogram');
  });

  test('facet values include and exclude, with counts that agree with the list', async () => {
    await go('');
    await page.getByRole('button', { name: 'search 30' }).click();
    await total(page, '30 logs');
    await page.getByRole('button', { name: 'web-1 10' }).click({ modifiers: ['Alt'] });
    await total(page, '20 logs');
    assert.equal(queryOf(page).get('query'), 'service:search -host:web-1');
    // One tab stop for each value: a key excludes.
    await page.getByRole('button', { name: 'web-2 10' }).press('-');
    await total(page, '10 logs');
    // Excluded values remain visible.
    await page.getByRole('button', { name: 'Hide web-1' }).click();
    await total(page, '20 logs');
    await page.getByRole('button', { name: 'default 20' }).waitFor();
    // Another value of the field can be added.
    await go('?severity=ERROR');
    const severities = page.getByRole('region', { name: 'Severity' });
    await severities.getByRole('button', { name: /^INFO/ }).click();
    await page.waitForURL(/query=severity:%28ERROR\+OR\+INFO%29/);
  });

  test('one banner reports an outage, and everything recovers', async () => {
    const other = await explorer.open('/explore/logs');
    await total(other.page, '60 logs');
    const body = JSON.stringify({ detail: 'cannot reach the store' });
    await other.page.route(/\/api\/v1\/(?:logs|histogram|facets)/, (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body }),
    );
    await other.page.keyboard.press('/');
    await other.page.keyboard.type('timeout');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('alert').getByText('cannot reach the store').waitFor();
    await other.page.getByText('Waiting for the service').first().waitFor();
    assert.equal(await other.page.getByRole('alert').count(), 1);
    await other.page.unroute(/\/api\/v1\/(?:logs|histogram|facets)/);
    await total(other.page, '10 logs');
    await other.page.getByRole('alert').waitFor({ state: 'detached' });
    await other.close();
  });

  test('a link leads from the top to the results', async () => {
    await go('');
    await total(page, '60 logs');
    const skip_ = page.getByRole('link', { name: 'Skip to the results' });
    await skip_.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.getByRole('tablist', { name: 'Show as' }).locator(':focus').waitFor();
  });

  test('an expanded log does not hide an empty result', async () => {
    await go('');
    await total(page, '60 logs');
    await page.getByRole('row').nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/log=/);
    await page.keyboard.press('/');
    await page.keyboard.type('nothing is like this');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
    assert.equal(queryOf(page).has('log'), false);
  });

  test('a shared link shows the same in another browser after sign-in', async () => {
    await go('?range=2h&search=order&serviceName=search&wrap=1');
    await total(page, '30 logs');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: /^Copy link to this moment/ }).click();
    await page.getByText('Copied the link').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.doesNotMatch(link, /wra_/);
    const { pathname, search, searchParams } = new URL(link);
    assert.ok(searchParams.has('from') && searchParams.has('until'));
    const other = await explorer.open(pathname + search);
    await total(other.page, '30 logs');
    await other.page.getByRole('button', { name: 'Service is search', exact: true }).waitFor();
    assert.equal(await queryText(other.page), 'order service:search');
    await other.close();
  });

  test('saves, opens, renames, overwrites and deletes a view', async () => {
    await go('?severity=ERROR');
    const menu = page.getByRole('button', { name: /^Saved views/ });
    const views = page.getByRole('dialog', { name: /^Saved views/ });
    await menu.click();
    await views.getByLabel('Name of the new view').fill('Failures');
    await views.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Saved views: Failures is shown' }).waitFor();
    await assertAccessible(page, 'saved views');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await total(page, '60 logs');
    await menu.click();
    await views.getByRole('button', { name: 'Failures', exact: true }).click();
    await total(page, '10 logs');
    await page.getByRole('button', { name: 'Remove: Severity is ERROR' }).click();
    await total(page, '60 logs');
    const act = async (what: string) => {
      await views.getByRole('button', { name: 'More for' }).click();
      await page.getByRole('menuitem', { name: what }).click();
    };
    await menu.click();
    await act('Overwrite with this search');
    await page.getByRole('button', { name: 'Saved views: Failures is shown' }).waitFor();
    await act('Rename');
    await views.getByLabel('New name of Failures').fill('Everything');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Saved views: Everything is shown' }).waitFor();
    // The keyboard goes on from the view.
    const focused = views.locator('button:focus', { hasText: 'Everything' });
    await focused.waitFor();
    await act('Delete');
    await views.getByRole('button', { name: 'Keep' }).click();
    await focused.waitFor();
    await act('Delete');
    await views.getByRole('button', { name: 'Delete', exact: true }).click();
    await views.getByText('No views yet').waitFor();
    await page.route('**/admin/views', (route) => route.fulfill({ status: 500, json: {} }));
    await page.reload();
    await menu.click();
    await views.getByRole('alert').waitFor();
    assert.equal(await views.getByText('No views yet').count(), 0);
    await page.unroute('**/admin/views');
  });

  test('a late response never replaces a newer one', async () => {
    await go('');
    await total(page, '60 logs');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/histogram.*query=timeout/, async (route) => {
      await released;
      await route.continue().catch(() => {});
    });
    const box = page.getByRole('textbox', { name: 'Query' });
    await box.fill('timeout');
    await box.press('Enter');
    await page.getByText('10 logs').first().waitFor();
    await box.fill('order');
    await box.press('Enter');
    await total(page, '50 logs');
    release();
    await page.waitForLoadState('networkidle');
    await total(page, '50 logs');
  });

  test('offers alternatives when nothing matches', async () => {
    await go('?range=1s&search=timeout&host=web-0');
    await page.getByRole('heading', { name: 'No logs match' }).waitFor();
    await page.getByText(/The newest matching log is from/).waitFor();
    await assertAccessible(page, 'nothing found');
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await page.getByText('payment timeout 0').first().waitFor();
  });

  test('accepts typed and pasted times and rejects invalid ones', async () => {
    await go('');
    const open = () => page.getByRole('button', { name: /^Time range/ }).click();
    await open();
    await page.getByRole('textbox', { name: 'Last' }).fill('2 hours');
    await page.keyboard.press('Enter');
    await page.waitForURL(/range=2h/);
    await open();
    await page.getByLabel('From', { exact: true }).fill('tomorrow');
    await page.getByLabel('Until').press('Enter');
    await page.getByRole('alert').getByText('“tomorrow” is not a time').waitFor();
    await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00:00+01:00');
    await page.getByLabel('Until').fill('now');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=2025-12-31T23:00:00.000Z/);
    await page.getByText('60 logs').first().waitFor();
  });

  test('no page rule was broken', () => watched.close());

  test('shows facets in a sheet on a phone', async () => {
    const viewport = { width: 390, height: 844 };
    const phone = await explorer.open('/', { viewport, hasTouch: true, isMobile: true });
    await total(phone.page, '60 logs');
    await phone.page.getByRole('button', { name: /^Facets/ }).tap();
    const sheet = phone.page.getByRole('dialog', { name: 'Filter by value' });
    await sheet.getByRole('button', { name: 'Hide INFO' }).tap();
    await sheet.getByRole('button', { name: 'Close' }).tap();
    await total(phone.page, '10 logs');
    await phone.page.keyboard.press('f');
    await sheet.waitFor();
    await phone.page.keyboard.press('f');
    await sheet.waitFor({ state: 'detached' });
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `the page is ${width} px wide`);
    await phone.close();
  });
});

/** Text of the histogram's heading to wait for. */
async function total(page: Page, words: string): Promise<void> {
  await page
    .getByRole('region', { name: 'Logs over time' })
    .getByRole('status')
    .filter({ hasText: new RegExp(`^${words}$`) })
    .waitFor();
}

/** Text of the query box. */
async function queryText(page: Page): Promise<string> {
  return (await page.getByRole('textbox', { name: 'Query' }).innerText()).trim();
}

function queryOf(page: Page): URLSearchParams {
  return new URL(page.url()).searchParams;
}

async function drag(page: Page, [from, to]: [number, number], beforeUp?: () => Promise<void>) {
  const box = await page.getByRole('slider', { name: 'Logs over time' }).boundingBox();
  assert.ok(box);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await beforeUp?.();
  await page.mouse.up();
}
