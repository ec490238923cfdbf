/**
 * `npm run bench -- --peers --corpus samples`: the same remote_write requests to Weir and
 * VictoriaMetrics, one after the other on this machine, and ratios.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prometheusBaseUrl } from '../../test/harness/metrics.ts';
import { Service } from '../../test/harness/service.ts';
import { onInterrupt } from '../interrupt.ts';
import { describeMachine } from '../machine.ts';
import { drained } from '../service-gauge.ts';
import { measureSamples, type SamplesFigures, type SamplesPeer } from './measure-samples.ts';
import { replaceSection, samplesMarkdown } from './report.ts';
import { findVictoriaMetrics, startVictoriaMetrics } from './victoria-metrics.ts';
import { readVersion } from './weir.ts';

export interface SamplesOptions {
  readonly seed: number;
  /** Samples in all. */
  readonly rows: number;
  /** Path of the binary; undefined searches PATH. */
  readonly victoriaMetrics: string | undefined;
  /** Whether to write the section of RESULTS.md. */
  readonly isWritten: boolean;
}

const results = new URL('./RESULTS.md', import.meta.url);

export async function benchSamples(options: SamplesOptions): Promise<void> {
  const { seed, rows } = options;
  const binary = findVictoriaMetrics(options.victoriaMetrics);
  if (binary === undefined) {
    console.error(
      'bench: skipped --peers --corpus samples: victoria-metrics is not in PATH; ' +
        'install the package of this name or name the binary with --victoria-metrics PATH',
    );
    return;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'weir-peers-'));
  const directory = join(scratch, 'victoria-metrics');
  mkdirSync(directory);
  let running: SamplesPeer | undefined;
  const cleanUp = async () => {
    await running?.stop();
    rmSync(scratch, { recursive: true, force: true });
  };
  const interruption = onInterrupt(cleanUp);
  try {
    const endMs = Date.now();
    const measured: SamplesFigures[] = [];
    for (const start of [
      () => startWeir(join(scratch, 'weir')),
      () => startVictoriaMetrics(binary, directory),
    ]) {
      running = await start();
      console.error(`bench: ${running.name}: samples`);
      measured.push(await measureSamples(running, { seed, rows, endMs }));
      await running.stop();
      running = undefined;
    }
    const [weir, peer] = measured as [SamplesFigures, SamplesFigures];
    const markdown = samplesMarkdown({
      command: `npm run bench -- --peers --corpus samples --rows ${rows} --seed ${seed}`,
      machine: describeMachine(),
      when: new Date().toISOString().slice(0, 10),
      rows,
      weir,
      peer,
    });
    console.log(markdown);
    if (!options.isWritten) return;
    writeFileSync(results, replaceSection(readFileSync(results, 'utf8'), 'samples', markdown));
  } finally {
    await cleanUp();
    interruption.cancel();
  }
}

/** @param dataDir does not exist yet; `stop` deletes it */
export async function startWeir(dataDir: string): Promise<SamplesPeer> {
  const service = new Service(dataDir, {});
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  const { receivers, caFile, accessToken, accountId } = service.quickstart;
  const { writeUrl, token } = receivers.prometheus;
  return {
    name: 'Weir',
    version: readVersion(),
    flags: 'none',
    acknowledgement: 'the samples are written and synced (fsync)',
    storeDir: join(dataDir, 'engine'),
    ca: readFileSync(caFile, 'utf8'),
    write: { url: writeUrl, headers: { authorization: `Bearer ${token}` } },
    query: {
      url: `${prometheusBaseUrl(service)}/api/v1/query`,
      headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
    },
    pids: () => [service.process.pid, ...service.enginePids()],
    stored: async () => {
      await drained(service);
    },
    stop: () => service.stop(),
  };
}
