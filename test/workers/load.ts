/** Senders that send logs one by one over persistent connections, and what was acknowledged. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createHttpClient, type HttpClient } from '../harness/http.ts';
import type { Service } from '../harness/service.ts';

export interface Load {
  /** Messages of acknowledged logs. */
  readonly acknowledged: ReadonlySet<string>;
  /** Waits for in-flight requests. @throws AssertionError after an unexpected answer */
  stop(): Promise<void>;
}

/** @param senders each with its own connection */
export function startLoad(service: Service, senders: number): Load {
  const acknowledged = new Set<string>();
  const stopping = new AbortController();
  const name = `load-${process.hrtime.bigint()}`;
  const clients = openClients(service, senders);
  const work = clients.map(async ({ send }, sender) => {
    for (let request = 0; !stopping.signal.aborted; request++) {
      const message = `${name} ${sender} ${request}`;
      const status = await postLog(service, send, message);
      if (status === 202) acknowledged.add(message);
      else assert.ok(status === 503 || status === 'lost', `answered ${status}`);
    }
  });
  return {
    acknowledged,
    async stop() {
      stopping.abort();
      await Promise.all(work);
      for (const client of clients) client.close();
    },
  };
}

/** Each keeps one connection. */
export function openClients({ quickstart }: Service, count: number): HttpClient[] {
  const ca = readFileSync(quickstart.caFile, 'utf8');
  return Array.from({ length: count }, () => createHttpClient(ca, 1));
}

async function postLog(
  { quickstart }: Service,
  send: HttpClient['send'],
  message: string,
): Promise<number | 'lost'> {
  const { url, token } = quickstart.receivers.http_json;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ message });
  try {
    return (await send(url, { method: 'POST', headers, body })).status;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    assert.ok(['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code ?? ''), String(error));
    return 'lost';
  }
}
