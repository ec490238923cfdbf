/** VictoriaLogs as a peer: one process, default settings, TLS as for Weir. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { createHttpClient, type HttpClient } from '../../test/harness/http.ts';
import { until } from '../../test/harness/until.ts';
import { findProgram, freePort, startProgram } from '../../test/senders/program.ts';
import { countAnswer, type LogsqlForm, toLogsqlForms } from './logsql.ts';
import type { Form, Peer } from './peer.ts';

/** @param given a path, or undefined to search PATH. @returns the binary, if there is one */
export function findVictoriaLogs(given: string | undefined): string | undefined {
  if (given !== undefined) return given;
  return findProgram('victoria-logs') ?? findProgram('victoria-logs-prod');
}

const insertPath =
  '/insert/jsonline?_stream_fields=service_name,host&_time_field=timestamp&_msg_field=message';

/** @param directory exists; data and certificate go into it */
export async function startVictoriaLogs(binary: string, directory: string): Promise<Peer> {
  const tls = join(directory, 'tls');
  const dataDir = join(directory, 'data');
  await ensureLocalCertificate(tls, new Date());
  const port = await freePort();
  const program = startProgram(binary, [
    `-storageDataPath=${dataDir}`,
    `-httpListenAddr=127.0.0.1:${port}`,
    '-tls',
    `-tlsCertFile=${join(tls, 'server.pem')}`,
    `-tlsKeyFile=${join(tls, 'server-key.pem')}`,
  ]);
  const ca = readFileSync(join(tls, 'ca.pem'), 'utf8');
  const url = `https://localhost:${port}`;
  const http = createHttpClient(ca);
  const stop = async () => {
    http.close();
    await program.stop();
  };
  const hasAnswered = async () => {
    const exit = program.exit();
    if (exit !== undefined) throw new Error(`cannot start ${binary}: ${program.output()}`);
    return (await http.send(`${url}/health`).catch(() => undefined))?.status === 200;
  };
  try {
    await until(hasAnswered, { what: 'VictoriaLogs to answer' });
    return {
      name: 'VictoriaLogs',
      version: await readVersion(http, url),
      flags: '-tls',
      acknowledgement:
        'the events are in memory; they are written and synced within 5 s ' +
        '(-inmemoryDataFlushInterval)',
      dataDir,
      ca,
      insertTarget: {
        url: `${url}${insertPath}`,
        headers: { 'content-type': 'application/stream+json' },
        toBody: (lines) => lines,
      },
      pids: () => [program.pid],
      count: async ({ sinceMs, untilMs }) => {
        const range = {
          kind: 'histogram',
          bySeverity: false,
          filter: {},
          sinceMs,
          untilMs,
        } as const;
        const [form] = toLogsqlForms(range);
        return form === undefined ? 0 : ask(http, url, form);
      },
      idle: async () => {},
      formsOf: (question) =>
        toLogsqlForms(question).map(
          (form): Form => ({
            text: form.map(({ path, text }) => `${path}: ${text}`).join('; '),
            ask: () => ask(http, url, form),
          }),
        ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ask(http: HttpClient, url: string, form: LogsqlForm): Promise<number> {
  const counts = form.map(async ({ path, text: query, parameters, answer }) => {
    const search = new URLSearchParams({ query, ...parameters }).toString();
    const { status, text } = await http.send(`${url}/select/logsql/${path}?${search}`);
    if (status !== 200) throw new Error(`cannot ask VictoriaLogs ${search}: ${text}`);
    return countAnswer(text, answer);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function readVersion(http: HttpClient, url: string): Promise<string> {
  const { text } = await http.send(`${url}/metrics`);
  const version = /^vm_app_version\{.*?\bversion="([^"]+)"/m.exec(text)?.[1];
  return version ?? 'unknown (the binary does not state it)';
}
