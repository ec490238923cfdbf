/** VictoriaMetrics as a receiver of remote_write: one process, default settings, TLS. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram } from '../../test/senders/program.ts';
import type { SamplesPeer } from './measure-samples.ts';
import { startTlsServer } from './tls-server.ts';

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
  const storeDir = join(directory, 'data');
  const server = await startTlsServer({
    binary,
    directory,
    args: (address, certificate, key) => [
      `-storageDataPath=${storeDir}`,
      `-httpListenAddr=${address}`,
      '-tls',
      `-tlsCertFile=${certificate}`,
      `-tlsKeyFile=${key}`,
    ],
    readyPath: '/health',
  });
  return {
    name: 'VictoriaMetrics',
    version: versionIn(await server.get('/metrics')) ?? packageVersion(binary),
    flags: '-tls',
    acknowledgement: 'the samples are in memory; they are written and synced within seconds',
    storeDir,
    ca: server.ca,
    write: { url: `${server.url}/api/v1/write`, headers: {} },
    query: { url: `${server.url}/api/v1/query`, headers: {} },
    pids: () => [server.pid],
    stored: async () => {},
    stop: () => server.stop(),
  };
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
