/** Signing in to the explorer and out of it, over tabs and browsers. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { IssuedToken } from '../harness/control.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, signIn, startExplorer } from './explorer.ts';

suite('sign-in', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  before(async () => {
    explorer = await startExplorer();
  });
  after(() => explorer?.close());

  const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
  const form = (page: Page) => page.getByLabel('Access token');

  async function leave(page: Page, item: string): Promise<void> {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
    await form(page).waitFor();
  }

  async function newToken(): Promise<IssuedToken> {
    const body = { type: 'access', name: 'person', scopes: ['logs:read', 'analytics:read'] };
    return (await explorer.service.admin('POST', '/tokens', body)).json<IssuedToken>();
  }

  async function createLink(): Promise<string> {
    const answer = await explorer.service.admin('POST', '/sign-in-links');
    return `/#sign-in=${answer.json<{ code: string }>().code}`;
  }

  test('a session lasts over reloads and tabs, and no script can read it', async () => {
    const { page, close } = await explorer.open('/');
    await page.reload();
    await pages(page).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(explorer.service.quickstart.streamUrl);
    await pages(tab).waitFor();
    const readable = await page.evaluate(() =>
      [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie].join(),
    );
    assert.ok(!/wra_|__Host|[a-z2-7]{52}/.test(readable), readable);
    await close();
  });

  test('a new tab has the account that was chosen last, an open one keeps its own', async () => {
    const made = await explorer.service.admin('POST', '/accounts', { name: 'second' });
    assert.equal(made.status, 201, made.text);
    const { page, close } = await explorer.open('/streams');
    const account = (of: Page) => of.getByRole('combobox', { name: 'Account' });
    const shown = (of: Page) => account(of).locator('option:checked').innerText();
    const tab = await page.context().newPage();
    await tab.goto(`${explorer.service.quickstart.streamUrl}/streams`);
    assert.equal(await shown(tab), 'default');
    await account(page).selectOption('second');
    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Tokens' }).click({ modifiers: ['ControlOrMeta'] });
    assert.equal(await shown(await opening), 'second');
    await tab.reload();
    assert.equal(await shown(tab), 'default');
    await close();
  });

  test('a shared link opens the account that it was made in', async () => {
    await explorer.service.admin('POST', '/accounts', { name: 'of the link' });
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, close } = await explorer.open('/explore/logs?query=100%25', { permissions });
    const account = (of: Page) => of.getByRole('combobox', { name: 'Account' });
    await account(page).selectOption('of the link');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: /^Copy link to this query/ }).click();
    await page.getByText('Copied the link').waitFor();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    const colleague = await explorer.open(link.pathname + link.search);
    const shown = account(colleague.page).locator('option:checked');
    assert.equal(await shown.innerText(), 'of the link');
    // A switch after it is not undone by a reload.
    assert.equal(new URL(colleague.page.url()).search, '?query=100%25');
    await account(colleague.page).selectOption('default');
    await colleague.page.reload();
    await account(colleague.page).waitFor();
    assert.equal(await shown.innerText(), 'default');
    await colleague.close();
    await close();
  });

  test('a sign-out and a sign-in show in the other tabs', async () => {
    const { page, close } = await explorer.open('/');
    const tab = await page.context().newPage();
    await tab.goto(explorer.service.quickstart.streamUrl);
    await pages(tab).waitFor();
    await leave(page, 'Sign out');
    await form(tab).waitFor();
    await signIn(tab, explorer.service.quickstart.accessToken);
    await pages(page).waitFor();
    await close();
  });

  test('signs out in every browser', async () => {
    const { token } = await newToken();
    const laptop = await explorer.visit();
    const phone = await explorer.visit();
    const other = await explorer.open('/');
    await signIn(laptop.page, token);
    await signIn(phone.page, token);
    await leave(laptop.page, 'Sign out in every browser');
    await phone.page.reload();
    await form(phone.page).waitFor();
    await other.page.reload();
    await pages(other.page).waitFor();
    for (const { close } of [laptop, phone, other]) await close();
  });

  test('a revoked token leads back to the form, which says why', async () => {
    const { token, tokenId } = await newToken();
    const { page, close } = await explorer.visit();
    await signIn(page, token);
    // The calls of the page itself would be refused too.
    await page.waitForLoadState('networkidle');
    await explorer.service.admin('POST', `/tokens/${tokenId}/revoke`);
    // The history of the tab changes without a load; the next call of the page is refused.
    await page.getByRole('link', { name: 'Weir: start' }).click();
    await page.keyboard.press('t');
    await page.getByText('The session is over').waitFor();
    await form(page).waitFor();
    await close();
  });

  test('a link signs in once and leaves no code in the address', async () => {
    const link = await createLink();
    const { page, close } = await explorer.visit(link);
    await pages(page).waitFor();
    assert.ok(!page.url().includes('wrl_'), page.url());
    await close();
    const again = await explorer.visit(link);
    await again.page.getByText('it was used or replaced, or it has expired').waitFor();
    await assertAccessible(again.page, 'a refused link');
    await signIn(again.page, explorer.service.quickstart.accessToken);
    await again.close();
  });

  test('a tab that is opened while the service is away signs in once it is back', async () => {
    const link = await createLink();
    const { page, close } = await explorer.visit();
    await form(page).waitFor();
    const isSession = /\/api\/v1\/session$/;
    const problem = { title: 'Not ready', detail: 'cannot read the directory' };
    await page.route(isSession, (route) => route.fulfill({ status: 503, json: problem }));
    const reason = page.getByRole('alert').getByText('cannot read the directory');
    // A signed-in browser, and a link that must not be lost.
    for (const path of [link, '/streams']) {
      await page.goto(explorer.service.quickstart.streamUrl + path);
      await reason.waitFor();
      await assertAccessible(page, 'an outage');
      await page.unroute(isSession);
      await pages(page).waitFor();
      await page.route(isSession, (route) => route.fulfill({ status: 503, json: problem }));
    }
    await close();
  });

  test('a link in an open tab signs in, and one for a signed-in browser stays unused', async () => {
    const { page, close } = await explorer.visit();
    await form(page).waitFor();
    const first = await createLink();
    await page.evaluate((hash) => location.assign(hash), first.slice(1));
    await pages(page).waitFor();
    const second = await createLink();
    await page.goto(explorer.service.quickstart.streamUrl + second);
    await pages(page).waitFor();
    await close();
    const other = await explorer.visit(second);
    await pages(other.page).waitFor();
    await other.close();
  });

  test('another site can neither frame the explorer nor use its session', async () => {
    const { page, close } = await explorer.open('/');
    const { streamUrl, accountId } = explorer.service.quickstart;
    const cookies = await page.context().cookies();
    const session = cookies.find(({ name }) => name === '__Host-weir-session');
    assert.equal(session?.httpOnly, true);
    assert.equal(session?.secure, true);
    assert.equal(session?.sameSite, 'Strict');
    const evil = await page.context().newPage();
    // Same host, so that the browser sends the cookie; another port is another origin.
    const origin = streamUrl.replace(/:\d+$/, ':1');
    await evil.route(`${origin}/**`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<title>evil</title><iframe src="${streamUrl}/"></iframe>`,
      }),
    );
    await evil.goto(`${origin}/`);
    const framed = evil.frames().find((frame) => frame !== evil.mainFrame());
    // Chromium shows its error page where the answer forbids framing.
    await framed!.waitForURL('chrome-error://chromewebdata/');
    const statuses = await evil.evaluate(
      async ([url, account]) => {
        const send = async (method: string, path: string, headers: Record<string, string>) => {
          try {
            const init = { method, headers, credentials: 'include', mode: 'cors' } as const;
            return (await fetch(url + path, init)).status;
          } catch {
            return 'blocked';
          }
        };
        const marked = { 'x-weir-explorer': '1', 'x-active-account': account ?? '' };
        return [
          await send('GET', '/api/v1/session', {}),
          await send('GET', '/api/v1/logs', marked),
          await send('POST', '/api/v1/session', {}),
          await send('DELETE', '/api/v1/session', marked),
        ];
      },
      [streamUrl, accountId],
    );
    assert.deepEqual(statuses, ['blocked', 'blocked', 'blocked', 'blocked']);
    await page.reload();
    await pages(page).waitFor();
    await close();
  });
});
