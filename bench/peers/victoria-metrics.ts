/** VictoriaMetrics as a receiver of remote_write: one process, default settings, TLS. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { createHttpClient } from '../../test/harness/http.ts';
import { until } from '../../test/harness/until.ts';
import { findProgram, freePort, startProgram } from '../../test/senders/program.ts';
import type { SamplesPeer } from './measure-samples.ts';

/** @param given a path, or undefined to search PATH. @returns the binary, if there is one */
export function findVictoriaMetrics(given: string | undefined): string | undefined {
  if (given !== undefined) return given;
  return findProgram('victoria-metrics') ?? findProgram('victoria-metrics-prod');
}

/** @param directory exists; data and certificate go into it */
export async function startVictoriaMetrics(
  binary: string,
  directory: string,
): Promise<SamplesPeer> {
  const tls = join(directory, 'tls');
  const storeDir = join(directory, 'data');
  await ensureLocalCertificate(tls, new Date());
  const port = await freePort();
  const program = startProgram(binary, [
    `-storageDataPath=${storeDir}`,
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
    await until(hasAnswered, { what: 'VictoriaMetrics to answer' });
    const { text } = await http.send(`${url}/metrics`);
    return {
      name: 'VictoriaMetrics',
      version: versionIn(text) ?? packageVersion(binary),
      flags: '-tls',
      acknowledgement: 'the samples are in memory; they are written and synced within seconds',
      storeDir,
      ca,
      write: { url: `${url}/api/v1/write`, headers: {} },
      query: { url: `${url}/api/v1/query`, headers: {} },
      pids: () => [program.pid],
      stored: async () => {},
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function versionIn(metrics: string): string | undefined {
  const version = /^vm_app_version\{.*?\bversion="([^"]*)"/m.exec(metrics)?.[1];
  return version === '' ? undefined : version;
}

/** Debian's binary does not state its version. */
function packageVersion(binary: string): string {
  const unknown = 'unknown (the binary does not state it)';
  if (!binary.startsWith('/usr/bin/')) return unknown;
  try {
    const format = ['-W', '-f=${Version}', 'victoria-metrics'];
    return `${execFileSync('dpkg-query', format, { encoding: 'utf8' })} of Debian`;
  } catch {
    return unknown;
  }
}
