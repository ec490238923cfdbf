/**
 * The operations ports of several nodes as one: ready when all are, with the metrics of all, so
 * that tests of a single process work on a set.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { sendPlain } from '../harness/http.ts';

export interface JoinedOps {
  readonly url: string;
  close(): Promise<void>;
}

/** @param toUrls current operations URLs of the nodes */
export async function openJoinedOps(toUrls: () => readonly string[]): Promise<JoinedOps> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const ask = (url: string) => sendPlain(`${url}${path}`).catch(() => undefined);
    void Promise.all(toUrls().map(ask)).then((answers) => {
      const texts = answers.map((answer) => answer?.text ?? '');
      response.setHeader('content-type', answers[0]?.headers['content-type'] ?? 'text/plain');
      response.statusCode = Math.max(...answers.map((answer) => answer?.status ?? 503));
      response.end(path === '/metrics' ? addUp(texts) : texts[0]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Merges expositions: values of the same series are added, comments appear once. */
function addUp(texts: readonly string[]): string {
  const sums = new Map<string, number | undefined>();
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const [, series, value] = /^([^#].*) (\S+)$/.exec(line) ?? [];
    if (series === undefined) sums.set(line, undefined);
    else sums.set(series, (sums.get(series) ?? 0) + Number(value));
  }
  const lines = [...sums].map(([key, sum]) => (sum === undefined ? key : `${key} ${sum}`));
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}
