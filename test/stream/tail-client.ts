/**
 * A client of the live tail over HTTP/1.1 or HTTP/2: events, the last id, and a connection that can
 * be closed, broken or left unread.
 */
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import type { Readable } from 'node:stream';
import type { LogRecord } from '../../src/model/plan.ts';
import { type Parameters, type Service, toQuery } from '../harness/service.ts';
import { until } from '../harness/until.ts';

export interface TailEvent {
  readonly name: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

export interface TailOptions {
  readonly parameters?: Parameters;
  readonly lastEventId?: string;
  /** Instead of the first run's access token. */
  readonly token?: string;
  readonly protocol?: 'HTTP/1.1' | 'HTTP/2';
}

interface Answered {
  readonly status: number;
  readonly body: Readable;
  leave(): void;
}

/** Resolves with the response head. */
export async function openTail(service: Service, options: TailOptions = {}): Promise<TailClient> {
  const { accessToken, accountId, streamUrl, caFile } = service.quickstart;
  const headers = {
    authorization: `Bearer ${options.token ?? accessToken}`,
    'x-active-account': accountId,
    ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
  };
  const path = `/api/v1/logs/tail?${toQuery(options.parameters ?? {})}`;
  const ask = options.protocol === 'HTTP/2' ? askHttp2 : askHttp1;
  const ca = readFileSync(caFile, 'utf8');
  return new TailClient(await ask(new URL(path, streamUrl), ca, headers));
}

export class TailClient {
  readonly status: number;
  /** All events so far, in order. */
  readonly events: TailEvent[] = [];
  /** How the response ended; undefined while it is open. */
  end: 'whole' | 'broken' | undefined;
  text = '';
  readonly #answered: Answered;
  #rest = '';

  constructor(answered: Answered) {
    this.#answered = answered;
    this.status = answered.status;
    const { body } = answered;
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => this.#take(chunk));
    body.on('end', () => (this.end ??= 'whole'));
    body.on('error', () => (this.end ??= 'broken'));
    body.on('close', () => (this.end ??= 'broken'));
  }

  get logs(): LogRecord[] {
    return this.named('log').map(({ data }) => data as unknown as LogRecord);
  }

  get lastId(): string {
    return this.events.findLast(({ id }) => id !== '')?.id ?? '';
  }

  named(name: string): TailEvent[] {
    return this.events.filter((event) => event.name === name);
  }

  /** Resolves with the first event of a name. */
  first(name: string): Promise<TailEvent> {
    return until(() => this.events.find((event) => event.name === name), { what: name });
  }

  /** Stops reading; the connection stays open. */
  pause(): void {
    this.#answered.body.pause();
  }

  resume(): void {
    this.#answered.body.resume();
  }

  leave(): void {
    this.#answered.leave();
  }

  #take(chunk: string): void {
    if (this.status !== 200) this.text += chunk;
    const texts = (this.#rest + chunk).split('\n\n');
    this.#rest = texts.pop() ?? '';
    for (const text of texts) this.events.push(toEvent(text));
  }
}

function toEvent(text: string): TailEvent {
  let [name, id, data] = ['', '', ''];
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'id') id = value;
    if (field === 'data') data += value;
  }
  return { name, id, data: JSON.parse(data) as TailEvent['data'] };
}

type Headers = Readonly<Record<string, string>>;

function askHttp1(url: URL, ca: string, headers: Headers): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = https.get(url, { ca, headers, agent: false }, (body) => {
      resolve({ status: body.statusCode ?? 0, body, leave: () => request.destroy() });
    });
    request.on('error', reject);
  });
}

function askHttp2(url: URL, ca: string, headers: Headers): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(url.origin, { ca });
    session.on('error', reject);
    const body = session.request({ ':path': url.pathname + url.search, ...headers });
    body.on('response', (head) => {
      resolve({ status: Number(head[':status']), body, leave: () => session.destroy() });
    });
    body.on('error', reject);
    body.on('close', () => session.close());
  });
}
