/** A browser on a page of the explorer: its headers and its session cookie, without the page. */
import assert from 'node:assert/strict';
import type { Answer } from './http.ts';
import type { Service } from './service.ts';

type Headers = Readonly<Record<string, string | undefined>>;

export interface Browser {
  /** `name=value`; empty without a session. A test may change it. */
  cookie: string;
  /** Those that a browser sends with a request of the page. */
  headers(method: string): Record<string, string>;
  /** @param options headers replace those of the browser, undefined removes one */
  send(
    method: string,
    path: string,
    options?: { readonly headers?: Headers; readonly body?: object },
  ): Promise<Answer>;
  /** @param token default that of the first run */
  signIn(token?: string): Promise<Answer>;
}

export function openBrowser(service: Service): Browser {
  const browser: Browser = {
    cookie: '',
    headers: (method) => ({
      'sec-fetch-site': 'same-origin',
      'x-weir-explorer': '1',
      'x-active-account': service.quickstart.accountId,
      ...(method !== 'GET' && { origin: service.quickstart.streamUrl }),
      ...(browser.cookie !== '' && { cookie: browser.cookie }),
    }),
    async send(method, path, { headers = {}, body } = {}) {
      const sent = {
        ...browser.headers(method),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      };
      const answer = await service.http.send(service.quickstart.streamUrl + path, {
        method,
        headers: Object.fromEntries(
          Object.entries(sent).filter(([, value]) => value !== undefined),
        ),
        ...(body && { body: JSON.stringify(body) }),
      });
      const set = answer.headers['set-cookie']?.[0];
      if (set !== undefined) browser.cookie = set.split(';')[0]?.replace(/^[^=]*=$/, '') ?? '';
      return answer;
    },
    async signIn(token = service.quickstart.accessToken) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await browser.send('POST', '/api/v1/session', { headers });
      assert.equal(answer.status, 204, answer.text);
      return answer;
    },
  };
  return browser;
}

/** Whether the explorer shows the sign-in page. */
export async function isSigningIn(browser: Browser): Promise<boolean> {
  const answer = await browser.send('GET', '/api/v1/session');
  assert.equal(answer.status, 200, answer.text);
  return !answer.json<{ isSignedIn: boolean }>().isSignedIn;
}
