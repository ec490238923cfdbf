/** Prometheus as a receiver of remote_write: one process, default settings, TLS. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SamplesPeer } from './measure-samples.ts';
import { startTlsServer } from './tls-server.ts';

/** @param directory exists; data and certificate go into it */
export async function startPrometheus(binary: string, directory: string): Promise<SamplesPeer> {
  const storeDir = join(directory, 'data');
  const config = join(directory, 'prometheus.yml');
  const web = join(directory, 'web.yml');
  writeFileSync(config, 'global: {}\n');
  const server = await startTlsServer({
    binary,
    directory,
    args: (address, certificate, key) => {
      const tls = { cert_file: certificate, key_file: key };
      writeFileSync(web, JSON.stringify({ tls_server_config: tls }));
      return [
        `--config.file=${config}`,
        `--storage.tsdb.path=${storeDir}`,
        `--web.listen-address=${address}`,
        `--web.config.file=${web}`,
        '--web.enable-remote-write-receiver',
      ];
    },
    readyPath: '/-/ready',
  });
  const build = JSON.parse(await server.get('/api/v1/status/buildinfo')) as {
    data: { version: string };
  };
  return {
    name: 'Prometheus',
    version: build.data.version,
    flags: '--web.enable-remote-write-receiver, TLS',
    acknowledgement: 'the samples are in memory and in its log, which is not synced',
    storeDir,
    ca: server.ca,
    write: { url: `${server.url}/api/v1/write`, headers: {} },
    query: { url: `${server.url}/api/v1/query`, headers: {} },
    pids: () => [server.pid],
    stored: async () => {},
    stop: () => server.stop(),
  };
}
