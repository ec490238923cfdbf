/**
 * The explorer in a real browser (Debian's chromium) on a real service. Fails on any dialog, page
 * error, CSP violation or request to another host.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type Service, type ServiceOptions, startService } from '../harness/service.ts';

const browserFile = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) =>
  existsSync(file),
);

/** Why these tests cannot run here; undefined = they can. In CI a missing browser is a failure. */
export function missingBrowser(): string | undefined {
  const isRequired = process.env['WEIR_TEST_SERVERS'] === 'required';
  if (browserFile !== undefined || isRequired) return undefined;
  return 'chromium is not installed (apt-get install chromium)';
}

export interface Explorer {
  readonly service: Service;
  readonly browser: Browser;
  /** Opens a signed-in page at `path`; violations are checked when it is closed. */
  open(path?: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  /** Opens a page without signing in. */
  visit(path?: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

export interface WatchedPage {
  readonly page: Page;
  /** Violations so far. */
  readonly faults: readonly string[];
  /** @throws AssertionError on violations */
  close(): Promise<void>;
}

export async function startExplorer(options: ServiceOptions = {}): Promise<Explorer> {
  const service = await startService(options);
  const browser = await chromium.launch({
    executablePath: browserFile ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const { streamUrl, accessToken } = service.quickstart;

  async function visit(path = '/', context: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await browser.newContext({
      ignoreHTTPSErrors: true,
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...context,
    });
    // Guards against a hang.
    opened.setDefaultTimeout(120_000);
    const page = await opened.newPage();
    const faults = watch(page, streamUrl);
    await page.goto(streamUrl + path);
    return {
      page,
      faults,
      async close() {
        await opened.close();
        assert.deepEqual(faults, []);
      },
    };
  }

  return {
    service,
    browser,
    visit,
    async open(path = '/', context = {}) {
      const watched = await visit(path, context);
      await signIn(watched.page, accessToken);
      return watched;
    },
    async close() {
      await browser.close();
      await service.stop();
    },
  };
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** The browser logs failed calls, which the page shows as well. */
const expectedNoise = /^Failed to load resource: the server responded with a status of/;

function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // CSP violations are reported here too.
    const isFault = message.type() === 'error' || message.type() === 'warning';
    if (isFault && !expectedNoise.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || /^(?:data|blob):/.test(url);
    if (!isOwn) faults.push(`request: ${url}`);
  });
  return faults;
}
