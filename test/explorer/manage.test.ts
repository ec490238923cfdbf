/** Managing receivers, streams and tokens in the explorer, from a new receiver to its deletion. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { parseQuery } from '../../ui/src/explore/query.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import {
  type Explorer,
  missingBrowser,
  signIn,
  startExplorer,
  type WatchedPage,
} from './explorer.ts';

const run = promisify(execFile);
const markup = '<img src=x onerror=alert(1)>';

interface Receiver {
  readonly receiverId: string;
  readonly streamId: string;
  readonly url: string;
}

suite('management', { skip: missingBrowser() ?? false }, () => {
  let explorer: Explorer;
  /** Shared by all tests: signing in takes longer than most of them. */
  let watched: WatchedPage;
  let page: Page;
  /** Folder in which sender snippets run. */
  let folder: string;
  before(async () => {
    explorer = await startExplorer();
    watched = await explorer.open('/receivers');
    ({ page } = watched);
    folder = mkdtempSync(join(tmpdir(), 'weir-senders-'));
    symlinkSync(
      fileURLToPath(new URL('../../node_modules', import.meta.url)),
      `${folder}/node_modules`,
    );
  });
  after(async () => {
    try {
      await watched?.close();
    } finally {
      await explorer?.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function go(path: string): Promise<void> {
    await page.goto(explorer.service.quickstart.streamUrl + path);
  }

  async function createReceiver(name: string, kind = 'http_json'): Promise<Receiver> {
    const { service } = explorer;
    const { streamId } = service.quickstart;
    const answer = await service.admin('POST', '/receivers', { name, kind, streamId });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Receiver>();
  }

  async function createToken(name: string, receiverId: string): Promise<string> {
    const body = { type: 'ingest', name, receiverId };
    const answer = await explorer.service.admin('POST', '/tokens', body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<{ token: string }>().token;
  }

  /** @returns the status of the response */
  async function send({ url }: Receiver, token: string): Promise<number> {
    const answer = await explorer.service.http.send(url, {
      method: 'POST',
      body: '[{"message":"sent by the test"}]',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    return answer.status;
  }

  test('creates a receiver and its stream by keyboard', async () => {
    await go('/receivers');
    await tabTo(page, page.getByRole('button', { name: 'New receiver' }));
    await page.keyboard.press('Enter');
    await assertFocused(page.getByLabel('Name'));
    await assertAccessible(page, 'the form of a receiver');
    await page.keyboard.type(markup);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    await page.keyboard.press('Tab');
    await page.keyboard.type('fresh stream');
    await tabTo(page, page.getByLabel('Allowed address ranges'));
    await page.keyboard.type('10.0.0.0/99');
    await tabTo(page, page.getByRole('button', { name: 'Create receiver' }));
    await page.keyboard.press('Enter');
    await page.getByText('“10.0.0.0/99” must be an address range').waitFor();
    await page.keyboard.press('Shift+Tab');
    await tabTo(page, page.getByLabel('Allowed address ranges'), 'Shift+Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('127.0.0.0/8');
    await tabTo(page, page.getByRole('button', { name: 'Create receiver' }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/receivers\/rcv_/);
    await page.getByRole('heading', { name: markup }).waitFor();
    await page.getByText('Waiting for the first event').waitFor();
    // The stream was created once, though the first attempt failed afterwards.
    const { streams } = (await explorer.service.admin('GET', '/streams')).json<{
      streams: { name: string }[];
    }>();
    assert.equal(streams.filter(({ name }) => name === 'fresh stream').length, 1);
  });

  test('explains a refusal, and updates when the first event arrives', async () => {
    const receiver = await createReceiver('first event');
    await go(`/receivers/${receiver.receiverId}`);
    await page.getByText('Waiting for the first event').waitFor();
    const code = page.locator('pre');
    assert.match((await code.textContent()) ?? '', /<RECEIVER_TOKEN>/);

    assert.equal(await send(receiver, 'wri_wrong'), 401);
    await page.getByText('The last request was refused (401)').waitFor();
    await page.getByText('create a new one for this receiver').waitFor();

    await page.getByRole('button', { name: 'Issue a token' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Issue token' }).click();
    await page.getByText('shown only once').waitFor();
    await shell(await code.innerText());
    await page.getByText('Receiving data').waitFor();
    const link = page.getByRole('link', { name: 'Show its logs' });
    const { search } = new URL((await link.getAttribute('href')) ?? '', page.url());
    assert.equal(parseQuery(search).text, `stream:${receiver.streamId}`);

    await page.reload();
    await page.getByText('Receiving data').waitFor();
    assert.doesNotMatch((await code.textContent()) ?? '', /wri_/);
  });

  test('snippets for Node.js, pino, Python and the command line work', async () => {
    const receiver = await createReceiver('snippets');
    await go(`/receivers/${receiver.receiverId}`);
    await page.getByRole('button', { name: 'Issue a token' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Issue token' }).click();
    await page.getByText('shown only once').waitFor();
    const paste = async (sender: string, caption: string) => {
      await page.getByRole('tab', { name: sender }).click();
      const text = await page.locator(`pre[aria-label="${caption}"]`).innerText();
      if (caption.includes('.')) writeFileSync(join(folder, caption), text);
      return text;
    };
    await paste('Node.js', 'hello.mjs');
    const node = await paste('Node.js', 'Run');
    await paste('pino', 'logger.mjs');
    await paste('pino', 'app.mjs');
    const pino = await paste('pino', 'Run');
    await paste('Python', 'app.py');
    const command = await paste('weir send', 'Shell');
    await Promise.all([shell(node), shell(pino), shell('python3 app.py'), shell(command)]);
    const messages = ['Node', 'pino', 'Python', 'weir', 'the journal'];
    for (const message of messages.map((sender) => `hello from ${sender}`)) {
      await until(
        async () => (await explorer.service.list({ search: `"${message}"` })).logs.length === 1,
        { what: message },
      );
    }
  });

  test('snippets for curl send OpenTelemetry logs and metrics', async () => {
    for (const kind of ['otlp', 'prometheus']) {
      const { receiverId } = await createReceiver(`curl ${kind}`, kind);
      const token = await createToken('curl', receiverId);
      await go(`/receivers/${receiverId}`);
      await page.getByRole('tab', { name: 'curl' }).click();
      const text = await page.locator('pre[aria-label^="Shell"]').first().innerText();
      await shell(text.replace('<RECEIVER_TOKEN>', token));
    }
  });

  test('totals of one time range are not shown as those of another', async () => {
    const { receiverId } = await createReceiver('ranges');
    await go(`/receivers/${receiverId}?tab=status`);
    await page.getByText('Events accepted').waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const isRead = (url: URL) => url.pathname.endsWith('/statistics');
    await page.route(isRead, async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByText('Events accepted').waitFor({ state: 'detached' });
    release();
    await page.getByText('Events accepted').waitFor();
    await page.unroute(isRead);
  });

  test('edits limits, and shows errors at their fields', async () => {
    const { receiverId } = await createReceiver('limits');
    await go(`/receivers/${receiverId}?tab=settings`);
    await page.getByLabel('Events per second').fill('many');
    await page.getByLabel('Burst in events').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a whole number').waitFor();
    await page.getByLabel('Events per second').fill('5,000');
    await page.getByRole('button', { name: 'Save' }).click();
    await described(page, page.getByLabel('Burst in events'), /small/i);
    await page.getByLabel('Burst in events').fill('');
    await page.getByLabel('Largest body').fill('2 MiB');
    await page.getByLabel('Active').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved limits').first().waitFor();
    const answer = await explorer.service.admin('GET', `/receivers/${receiverId}`);
    const { active, limits } = answer.json<{ active: boolean; limits: object }>();
    assert.equal(active, false);
    assert.deepEqual(limits, { eventsPerSecond: 5000, burstEvents: null, maxBodyBytes: 2_097_152 });
    await page.getByRole('tab', { name: 'Send data' }).click();
    await page.getByText('This receiver is inactive').waitFor();
  });

  test('a rotated secret and a revoked token are refused within seconds', async () => {
    const receiver = await createReceiver('rotation');
    const old = await createToken('sender one', receiver.receiverId);
    assert.equal(await send(receiver, old), 202);
    await go(`/receivers/${receiver.receiverId}?tab=tokens`);
    await pick(page, 'sender one', 'Rotate secret');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).dblclick();
    const secret = await page.getByRole('dialog').getByLabel('the new secret').first().innerText();
    assert.match(secret, /^wri_/);
    await until(async () => (await send(receiver, old)) === 401, {
      what: 'the old secret to be refused',
    });
    assert.equal(await send(receiver, secret), 202);
    await page.getByRole('button', { name: 'Done' }).click();

    await pick(page, 'sender one', 'Revoke');
    await page.getByText('senders that use this token on rotation').waitFor();
    await assertAccessible(page, 'the question before a token is revoked');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row').getByText('revoked').waitFor();
    await until(async () => (await send(receiver, secret)) === 401, {
      what: 'the token to be refused',
    });

    await page.getByRole('tab', { name: 'Status' }).click();
    await page.getByRole('cell', { name: /create a new one for this receiver/ }).waitFor();
  });

  test('a change of a stream sends only what changed', async () => {
    const created = await explorer.service.admin('POST', '/streams', {
      name: 'spring',
      retentionDays: 40,
      downsampling: '30d:5m',
    });
    assert.equal(created.status, 201, created.text);
    await go('/streams');
    await pick(page, 'spring', 'Edit');
    await page.getByLabel('Name').fill('summer');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.deepEqual((await sent).postDataJSON(), { name: 'summer' });
    await page.getByText('Saved summer').first().waitFor();
    await pick(page, 'summer', 'Edit');
    await page.getByLabel('Downsampling of metrics').fill('');
    const further = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.deepEqual((await further).postDataJSON(), { downsampling: null });
    await page.getByRole('dialog', { name: 'Edit summer' }).waitFor({ state: 'detached' });
  });

  test('what cannot be read is not shown as absent, and can be tried again', async () => {
    const broken = async (what: string, path: string) => {
      const isList = (url: URL) => url.pathname === `/api/v1/admin/${what}`;
      await page.route(isList, (route) => route.fulfill({ status: 500, json: { title: what } }));
      await go(path);
      await page.getByRole('alert').getByText(what).waitFor();
      const shown = await page.getByRole('main').innerText();
      await page.unroute(isList);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      return shown;
    };
    assert.doesNotMatch(await broken('receivers', '/streams'), /no receivers|0 B/);
    await page.getByRole('row').getByRole('link', { name: 'json', exact: true }).waitFor();
    await broken('receivers', '/tokens');
    await page.getByRole('table', { name: 'Tokens of senders' }).waitFor();
    await broken('streams', '/receivers');
    await page.getByRole('button', { name: 'New receiver' }).click();
    await page.keyboard.press('Escape');
  });

  test('of many streams, the first ones are read, and the others found by name', async () => {
    const streams = Array.from({ length: 60 }, (_, at) => ({
      streamId: `${String(at).padStart(8, '0')}-0000-7000-8000-000000000000`,
      name: `many ${at}`,
      retentionDays: 30,
      downsampling: null,
      dataDeletedUntil: null,
    }));
    const isList = (url: URL) => url.pathname === '/api/v1/admin/streams';
    await page.route(isList, (route) => route.fulfill({ json: { streams } }));
    const isNewest = (url: URL) => url.pathname === '/api/v1/logs';
    let reads = 0;
    await page.route(isNewest, (route) => {
      reads += 1;
      return route.fulfill({ json: { logs: [] } });
    });
    await go('/streams');
    const rows = page.getByRole('table', { name: 'Streams' }).getByRole('row');
    await page.getByRole('button', { name: 'Show more of 60' }).waitFor();
    await until(async () => reads === 50, { what: 'reads of the first page' });
    assert.equal(await rows.count(), 51);
    await page.getByLabel('Find by name').fill('MANY 59');
    await rows.getByText('many 59').waitFor();
    assert.equal(await rows.count(), 2);
    await until(async () => reads === 51, { what: 'the read of the stream that was found' });
    // With one page left, all are shown: the field is gone.
    const isLast = (url: URL) => url.pathname.endsWith(streams.at(-1)!.streamId);
    await page.route(isLast, (route) => {
      streams.length = 50;
      return route.fulfill({ status: 204 });
    });
    await pick(page, 'many 59', 'Delete');
    await page.getByLabel('Type “many 59” to continue').fill('many 59');
    await page.getByRole('button', { name: 'Delete stream' }).click();
    await rows.nth(50).waitFor();
    await page.unroute(isLast);
    await page.unroute(isList);
    await page.unroute(isNewest);
  });

  test('deletes a receiver and its stream after their names are typed', async () => {
    await go('/streams');
    await page
      .getByRole('cell', { name: /^[\d.]+ [kM]?B$/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'New stream' }).click();
    await page.getByLabel('Name').fill('short-lived');
    await page.getByLabel('Retention in days').fill('9999');
    await page.getByRole('button', { name: 'Create stream' }).click();
    await described(page, page.getByLabel('Retention in days'), /3650/);
    await page.getByLabel('Retention in days').fill('7');
    await page.getByRole('button', { name: 'Create stream' }).dblclick();
    const row = page.getByRole('row', { name: /short-lived/ });
    await row.getByText('7 days').waitFor();
    assert.equal(await row.count(), 1);

    const streams = (await explorer.service.admin('GET', '/streams')).json<{
      streams: { name: string; streamId: string }[];
    }>().streams;
    const { streamId } = streams.find(({ name }) => name === 'short-lived') ?? { streamId: '' };
    const body = { name: 'feeder', kind: 'otlp', streamId };
    await explorer.service.admin('POST', '/receivers', body);
    await page.reload();
    await pick(page, 'short-lived', 'Delete');
    await page.getByRole('dialog').getByRole('link', { name: 'feeder' }).click();
    await page.getByRole('button', { name: 'Delete receiver' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete receiver' });
    assert.ok(await confirm.isDisabled());
    await page.getByLabel('Type “feeder” to continue').fill('feeder');
    await confirm.click();
    await page.waitForURL(/\/receivers$/);

    await page.getByRole('link', { name: 'Streams' }).click();
    await pick(page, 'short-lived', 'Delete data');
    await page.getByLabel('Type “short-lived” to continue').fill('short-lived');
    await page.getByRole('button', { name: 'Delete data' }).click();
    await row.getByText('just now').waitFor();
    await pick(page, 'short-lived', 'Delete');
    await page.getByLabel('Type “short-lived” to continue').fill('short-lived');
    await page.getByRole('button', { name: 'Delete stream' }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('opens the pages of the scopes of a token; others name the missing scope', async () => {
    await go('/tokens');
    await page.getByText('this session').waitFor();
    await pick(page, 'first run', 'Revoke');
    await page.getByText('you will be signed out').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('reader');
    await page.getByRole('button', { name: 'Create token' }).click();
    const secret = await page.getByRole('dialog').getByLabel('the token').first().innerText();
    // Beside the sheet: the secret is not shown again.
    await page.mouse.click(5, 500);
    await page.getByRole('button', { name: 'Done' }).click();
    await page
      .getByRole('row', { name: /reader/ })
      .getByText('logs:read, analytics:read')
      .waitFor();

    const reader = await explorer.visit('/receivers');
    await signIn(reader.page, secret);
    await reader.page.getByText('This page needs a token with the scope admin').waitFor();
    assert.equal(await reader.page.getByRole('link', { name: 'Receivers' }).count(), 0);
    await reader.close();
  });

  test('Escape loses no secret: not while a token is created, not while it is shown', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const isTokens = (url: URL) => url.pathname === '/api/v1/admin/tokens';
    await page.route(isTokens, async (route) => {
      if (route.request().method() === 'POST') await released;
      await route.continue();
    });
    await go('/tokens');
    await page.getByRole('button', { name: 'New access token' }).click();
    await page.getByLabel('Name').fill('made slowly');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('button', { name: 'Create token…' }).waitFor();
    await page.keyboard.press('Escape');
    release();
    await page.getByRole('dialog').getByLabel('the token').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /made slowly/ }).waitFor();
    await page.unroute(isTokens);
  });

  test('the day on which a token expires is that of the time zone', async () => {
    const body = { type: 'access', name: 'expiring', scopes: ['logs:read'] };
    const expiresAt = '2100-01-01T02:00:00.000Z';
    const made = await explorer.service.admin('POST', '/tokens', { ...body, expiresAt });
    assert.equal(made.status, 201, made.text);
    const { page: other, close } = await explorer.open('/tokens', {
      timezoneId: 'America/Los_Angeles',
    });
    await other
      .getByRole('row', { name: /expiring/ })
      .getByText('2099-12-31')
      .waitFor();
    await close();
  });

  test('shows invisible characters in names and does not ask to type them', async () => {
    const { receiverId } = await createReceiver('safe\u202egpj.exe');
    await go('/receivers');
    await page.getByRole('row', { name: /safeU\+202Egpj\.exe/ }).waitFor();
    await page.getByRole('row', { name: markup }).waitFor();
    await go(`/receivers/${receiverId}?tab=settings`);
    await page.getByRole('button', { name: 'Delete receiver' }).click();
    await page.getByLabel('Type “delete” to continue').fill('delete');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/receivers$/);
  });

  test('forms fit a phone, also in dark mode', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const [path, button] of [
      ['/receivers', 'New receiver'],
      ['/streams', 'New stream'],
      ['/tokens', 'New access token'],
    ] as const) {
      await go(path);
      await page.getByRole('button', { name: button }).click();
      const dialog = page.getByRole('dialog', { name: button });
      const box = await dialog.boundingBox();
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390, button);
      const action = dialog.getByRole('button', { name: /^Create/ });
      const actionBox = await action.boundingBox();
      assert.ok(actionBox !== null && actionBox.y + actionBox.height <= 844, button);
      await assertAccessible(page, button);
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('creates, opens and deletes an account', async () => {
    await go('/accounts');
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Name').fill('guests');
    await page.getByLabel('Events per second').fill('100');
    await page.getByRole('button', { name: 'Create account' }).click();
    const row = page.getByRole('row', { name: /guests/ });
    await row.getByRole('button', { name: 'Switch to this account' }).click();
    await page.getByRole('link', { name: 'Receivers' }).click();
    await page.getByText('No receivers yet').waitFor();
    await page.getByRole('link', { name: 'Accounts' }).click();
    await pick(page, 'guests', 'Delete');
    await page.getByLabel('Type “guests” to continue').fill('guests');
    await page.getByRole('button', { name: 'Delete account' }).click();
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /default/ })
      .getByText('now')
      .waitFor();
  });

  async function shell(script: string): Promise<void> {
    const here = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));
    const programs = [
      'curl() { command curl --fail -sS "$@"; }',
      `weir() { ${process.execPath} ${here} "$@"; }`,
      `journalctl() { echo 'hello from the journal'; }`,
    ];
    await run('bash', ['-e', '-c', [...programs, script].join('\n')], {
      cwd: folder,
      timeout: 120_000,
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    });
  }
});

async function pick(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 30; presses += 1) {
    if (await isFocused(target)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${key} does not reach ${target.toString()}`);
}

async function assertFocused(target: Locator): Promise<void> {
  await target.waitFor();
  await until(() => isFocused(target), { what: `the focus on ${target.toString()}` });
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

/** Accessible description of a field. */
async function described(page: Page, field: Locator, words: RegExp): Promise<void> {
  await until(
    async () => {
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
      const texts = await Promise.all(
        ids.map((id) => page.locator(`[id="${id}"]`).allInnerTexts()),
      );
      return words.test(texts.flat().join(' '));
    },
    { what: `${words} beside the field` },
  );
}
