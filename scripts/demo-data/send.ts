/** Sends a demo day to a running Weir as any sender would. */
import { request } from 'node:https';
import { createDay, type DayOptions } from './day.ts';
import { expositionsOf } from './exposition.ts';

/** The part of quickstart.json that is needed; an absent `ca` = the system's authorities. */
export interface DemoTarget {
  readonly receivers: {
    readonly http_json: { readonly url: string; readonly token: string };
    readonly prometheus: { readonly pushUrl: string; readonly token: string };
  };
  readonly ca: string | undefined;
}

export interface Sent {
  readonly logs: number;
  readonly samples: number;
}

const logsPerRequest = 2_000;

/** @throws Error unless everything was accepted */
export async function sendDay({ receivers, ca }: DemoTarget, options: DayOptions): Promise<Sent> {
  const day = createDay(options);
  const { url, token } = receivers.http_json;
  for (let at = 0; at < day.logs.length; at += logsPerRequest) {
    const body = JSON.stringify(day.logs.slice(at, at + logsPerRequest));
    await post(url, { ca, token, type: 'application/json', body });
  }
  const fromMs = options.untilMs - options.hours * 3_600_000;
  let samples = 0;
  for (const body of expositionsOf(day.calls, { fromMs, untilMs: options.untilMs })) {
    const { pushUrl, token: pushToken } = receivers.prometheus;
    await post(pushUrl, { ca, token: pushToken, type: 'text/plain; version=0.0.4', body });
    samples += body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  }
  return { logs: day.logs.length, samples };
}

interface Post {
  readonly ca: string | undefined;
  readonly token: string;
  readonly type: string;
  readonly body: string;
}

async function post(url: string, { ca, token, type, body }: Post): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const sent = request(url, { method: 'POST', headers, ...(ca !== undefined && { ca }) });
  sent.on('error', reject);
  sent.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', reject);
    response.on('end', () => {
      const { statusCode = 0 } = response;
      if (statusCode === 202) resolve();
      else reject(new Error(`cannot send to ${url}: ${statusCode} ${text}`));
    });
  });
  sent.end(body);
  return promise;
}
