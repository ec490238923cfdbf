/** Signing in through an OpenID Connect provider, in a browser. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openProvider, type TestProvider } from '../harness/oidc-provider.ts';
import { type Explorer, missingBrowser, startExplorer } from './explorer.ts';

suite('single sign-on', { skip: missingBrowser() ?? false }, () => {
  let provider: TestProvider;
  let explorer: Explorer;
  before(async () => {
    provider = await openProvider(['groups=sre all operator+logs:read+analytics:read']);
    explorer = await startExplorer(provider.serviceOptions);
    provider.serve(explorer.service.quickstart.streamUrl);
  });
  after(async () => {
    await explorer?.close();
    provider?.close();
  });
  const signIn = (page: Page) => page.getByRole('link', { name: 'Sign in with Example' }).click();
  const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
  /** The redirects lead to the provider and back: the only other host. */
  const isExpected = (fault: string) => fault.startsWith(`request: ${provider.issuer}/`);

  test('lasts over tabs, and ends with the sign-out', async () => {
    provider.person = { id: 'ada', email: 'ada@example.com', groups: ['sre'] };
    const { page, faults } = await explorer.visit('/');
    await signIn(page);
    await pages(page).waitFor();
    assert.equal(new URL(page.url()).origin, explorer.service.quickstart.streamUrl);
    assert.doesNotMatch(page.url(), /code=|state=|sign-in/);
    const [session] = (await page.context().cookies(page.url())).filter(
      ({ name }) => name === '__Host-weir-session',
    );
    assert.equal(session?.httpOnly, true);
    assert.equal(session?.sameSite, 'Strict');
    await page.reload();
    await pages(page).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${explorer.service.quickstart.streamUrl}/explore/logs`);
    await pages(tab).waitFor();
    // The person has no scope for receivers.
    assert.equal(await pages(page).getByRole('link', { name: 'Receivers' }).count(), 0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    await tab.reload();
    await tab.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    assert.deepEqual(
      faults.filter((fault) => !isExpected(fault)),
      [],
    );
    await page.context().close();
  });

  test('leads back to the link that was opened, also after a refusal', async () => {
    const { page, faults } = await explorer.visit('/explore/logs');
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    // Another page than that of the rendering.
    await page.evaluate("history.replaceState(null, '', '?query=100%25&range=1d')");
    const opened = page.url();
    provider.person = undefined;
    await signIn(page);
    await page.getByRole('alert').waitFor();
    assert.equal(page.url(), opened);
    await page.context().clearCookies();
    provider.person = { id: 'ada', email: 'ada@example.com', groups: ['sre'] };
    await signIn(page);
    await pages(page).waitFor();
    assert.equal(page.url(), opened);
    assert.deepEqual(
      faults.filter((fault) => !isExpected(fault)),
      [],
    );
    await page.context().close();
  });

  test('a sign-in in a new tab leads to the open page, and shows in the other tabs', async () => {
    provider.person = { id: 'ada', email: 'ada@example.com', groups: ['sre'] };
    const { page } = await explorer.visit('/explore/logs?query=of-the-link');
    const link = page.getByRole('link', { name: 'Sign in with Example' });
    await link.waitFor();
    const opening = page.context().waitForEvent('page');
    await link.click({ modifiers: ['ControlOrMeta'] });
    const tab = await opening;
    await pages(tab).waitFor();
    assert.equal(new URL(tab.url()).search, '?query=of-the-link');
    await pages(page).waitFor();
    assert.equal(page.url(), tab.url());
    await tab.evaluate(() => sessionStorage.setItem('weir.draft of Ada', '{}'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await tab.getByRole('link', { name: 'Sign in with Example' }).waitFor();
    const kept = await tab.evaluate(() => Object.keys(sessionStorage).join());
    assert.ok(!kept.includes('Ada'), kept);
    await page.context().close();
  });

  test('a person without a rule, or who declines, reads why and stays outside', async () => {
    const { page, faults } = await explorer.visit('/');
    for (const person of [{ id: 'eve', email: 'eve@example.com', groups: [] }, undefined]) {
      provider.person = person;
      await signIn(page);
      await page.getByRole('alert').waitFor();
      assert.equal(await pages(page).count(), 0);
      await page.context().clearCookies();
    }
    assert.deepEqual(
      faults.filter((fault) => !isExpected(fault)),
      [],
    );
    await page.context().close();
  });
});
