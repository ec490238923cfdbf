/** A server program with TLS on a free port of this machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { createHttpClient } from '../../test/harness/http.ts';
import { until } from '../../test/harness/until.ts';
import { freePort, startProgram } from '../../test/senders/program.ts';

export interface TlsServer {
  readonly url: string;
  /** PEM of the certificate authority. */
  readonly ca: string;
  readonly pid: number;
  /** Text of a GET. */
  get(path: string): Promise<string>;
  stop(): Promise<void>;
}

export interface TlsProgram {
  readonly binary: string;
  /** Exists; the certificate goes into it. */
  readonly directory: string;
  readonly args: (address: string, certificate: string, key: string) => readonly string[];
  /** Answers 200 once the server is ready. */
  readonly readyPath: string;
}

/** @throws Error if the program ends or does not get ready */
export async function startTlsServer(program: TlsProgram): Promise<TlsServer> {
  const { binary, directory, readyPath } = program;
  const tls = join(directory, 'tls');
  await ensureLocalCertificate(tls, new Date());
  const port = await freePort();
  const [certificate, key] = [join(tls, 'server.pem'), join(tls, 'server-key.pem')];
  const running = startProgram(binary, program.args(`127.0.0.1:${port}`, certificate, key));
  const ca = readFileSync(join(tls, 'ca.pem'), 'utf8');
  const url = `https://localhost:${port}`;
  const http = createHttpClient(ca);
  const stop = async () => {
    http.close();
    await running.stop();
  };
  const isReady = async () => {
    const exit = running.exit();
    if (exit !== undefined) throw new Error(`cannot start ${binary}: ${running.output()}`);
    return (await http.send(url + readyPath).catch(() => undefined))?.status === 200;
  };
  try {
    await until(isReady, { what: `${binary} to answer` });
  } catch (error) {
    await stop();
    throw error;
  }
  const get = async (path: string) => (await http.send(url + path)).text;
  return { url, ca, pid: running.pid, get, stop };
}
