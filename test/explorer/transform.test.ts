/** The transform of a receiver in the explorer: written, tried out, saved, removed. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAccessToken, createIngestToken, createReceiver } from '../harness/control.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, signIn, startExplorer } from './explorer.ts';

const skip = missingBrowser() ?? false;
const markup = '<img src=x onerror=alert(1)>';
const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

suite('transforms', { skip }, () => {
  let explorer: Explorer;
  before(async () => {
    explorer = await startExplorer();
    const { service } = explorer;
    await service.postLogs([
      { message: 'paid with 4111 1111 1111 1111', severity: 'INFO', labels: { [markup]: markup } },
      { message: 'noise', severity: 'DEBUG' },
      { message: 'as it is', severity: 'INFO' },
      { message: 'x'.repeat(5_000), severity: 'DEBUG' },
    ]);
    await until(async () => (await service.list({})).logs.length === 4, { what: 'the logs' });
  });
  after(() => explorer.close());

  async function newReceiver(fields: object = {}): Promise<string> {
    return (await createReceiver(explorer.service, fields)).receiverId;
  }

  async function transformOf(receiverId: string): Promise<readonly { type: string }[]> {
    const answer = await explorer.service.admin('GET', `/receivers/${receiverId}`);
    return answer.json<{ transform?: { type: string }[] }>().transform ?? [];
  }

  async function openSettings(receiverId: string, options = {}) {
    const watched = await explorer.open(`/receivers/${receiverId}?tab=settings`, options);
    return { ...watched, editor: watched.page.getByRole('textbox', { name: 'Transform' }) };
  }

  test('steps are written by keyboard, tried out on stored logs and saved', async () => {
    const receiverId = await newReceiver();
    const { page, editor, close } = await openSettings(receiverId);
    await page.getByRole('button', { name: 'Add a transform' }).press('Enter');
    await editor.waitFor();
    await page.getByText('4 newest logs of the stream: 0 dropped, 0 changed, 4 left').waitFor();
    await addStep(page, 'Redact secrets');
    await addStep(page, 'Drop logs');
    await page.getByText('4 newest logs of the stream: 2 dropped, 1 changed, 1 left').waitFor();
    const list = page.getByRole('list', { name: 'Logs before and after the transform' });
    const dropped = list.getByRole('listitem').filter({ hasText: 'noise' });
    await dropped.getByText('dropped by the transform').waitFor();
    const redacted = list.getByRole('listitem').filter({ hasText: 'paid with' });
    await redacted.getByText('redacted', { exact: true }).waitFor();
    await redacted.locator('del', { hasText: '4111 1111 1111 1111' }).waitFor();
    await redacted.locator('ins', { hasText: 'paid with [redacted]' }).waitFor();
    await assertAccessible(page, 'the preview of a transform');
    assert.deepEqual(await transformOf(receiverId), [], 'a preview saves nothing');

    await page.getByRole('button', { name: 'Save transform' }).press('Enter');
    await page.getByText('Saved the transform').first().waitFor();
    const types = (await transformOf(receiverId)).map(({ type }) => type);
    assert.deepEqual(types, ['redact', 'drop']);
    // The settings above do not touch it.
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByText(/^Saved (?!the transform)/)
      .first()
      .waitFor();
    assert.equal((await transformOf(receiverId)).length, 2);

    await send(receiverId);
    await close();
  });

  /** What was saved applies to what is sent. */
  async function send(receiverId: string): Promise<void> {
    const { service } = explorer;
    const { http_json } = service.quickstart.receivers;
    const { token } = await createIngestToken(service, receiverId);
    const url = http_json.url.replace(http_json.receiverId, receiverId);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await until(
      async () => {
        const body = '[{"message":"transformed 5500 0000 0000 0004"}]';
        const { status } = await service.http.send(url, { method: 'POST', headers, body });
        assert.equal(status, 202);
        return (await service.list({ search: '"transformed [redacted]"' })).logs.length > 0;
      },
      { what: 'a redacted log' },
    );
  }

  test('faults are marked in place and cannot be saved', async () => {
    const { page, editor, close } = await openSettings(await newReceiver());
    await page.getByRole('button', { name: 'Add a transform' }).click();
    await write(page, '[{"type": "drop", "where": {"field": "message", "matches": "(?=x)"}}]');
    const fault = page.getByRole('alert').getByText(/^step 1, where\.matches: is not an RE2/);
    await fault.waitFor();
    await editor.locator('.cm-lintRange-error', { hasText: '"matches"' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save transform' }).isDisabled());
    await assertAccessible(page, 'a transform with a fault');

    await write(page, '[{"type": "parse" "format": "json"}]');
    await page
      .getByRole('alert')
      .getByText(/^cannot read the steps as JSON/)
      .waitFor();
    await write(page, '[{"type": "parse", "format": "json"}]');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('message not parsed').first().waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save transform' }).isEnabled());

    // Escape, then Tab leaves the editor.
    await editor.focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    const save = page.getByRole('button', { name: 'Save transform' });
    assert.ok(await save.evaluate((element) => element === document.activeElement));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Add a transform' }).waitFor();
    await close();
  });

  test('a transform is removed, on a phone', async () => {
    const transform = [{ type: 'drop', where: { field: 'severity', is: 'debug' } }];
    const receiverId = await newReceiver({ transform });
    const { page, close } = await openSettings(receiverId, phone);
    await page.getByText(/\d newest logs of the stream/).waitFor();
    await assertAccessible(page, 'a transform on a phone');
    const { wanted, given } = await page.evaluate(() => ({
      wanted: document.documentElement.scrollWidth,
      given: document.documentElement.clientWidth,
    }));
    assert.ok(wanted <= given, `the page is ${wanted} px wide on a screen of ${given}`);
    await page.getByRole('button', { name: 'Remove transform' }).click();
    await assertAccessible(page, 'the question before a transform is removed');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Add a transform' }).waitFor();
    assert.deepEqual(await transformOf(receiverId), []);
    await close();
  });

  test('the settings keep what another changed while they were open', async () => {
    const { service } = explorer;
    const transform = [{ type: 'drop', where: { field: 'severity', is: 'debug' } }];
    const receiverId = await newReceiver({ transform });
    const { page, close } = await openSettings(receiverId);
    await page.getByRole('button', { name: 'Remove transform' }).waitFor();
    await service.admin('PATCH', `/receivers/${receiverId}`, { name: 'renamed' });
    // Reads the receiver again.
    await page.getByRole('button', { name: 'Remove transform' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'renamed' }).waitFor();
    await page.getByLabel('Events per second').fill('7');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved renamed').first().waitFor();
    const answer = await service.admin('GET', `/receivers/${receiverId}`);
    const { name, limits } = answer.json<{ name: string; limits: { eventsPerSecond: number } }>();
    assert.deepEqual([name, limits.eventsPerSecond], ['renamed', 7]);
    await close();
  });

  test('a token that cannot read logs still checks and saves', async () => {
    const receiverId = await newReceiver();
    const { token } = await createAccessToken(explorer.service, ['admin']);
    const { page, close } = await explorer.visit(`/receivers/${receiverId}?tab=settings`);
    await signIn(page, token);
    await page.getByRole('button', { name: 'Add a transform' }).click();
    await page.getByText('needs a token with the scope logs:read').waitFor();
    await write(page, '[{"type": "sample", "share": 2}]');
    await page
      .getByRole('alert')
      .getByText(/^step 1, share: /)
      .waitFor();
    await close();
  });

  test('a receiver of metrics has none', async () => {
    const { page, close } = await openSettings(await newReceiver({ kind: 'prometheus' }));
    await page.getByRole('button', { name: 'Delete receiver' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Add a transform' }).count(), 0);
    await close();
  });
});

async function addStep(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a step' }).press('Enter');
  await page.getByRole('menuitem', { name }).press('Enter');
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Transform' }).fill(text);
}
