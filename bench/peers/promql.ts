/**
 * `npm run bench -- --peers --corpus promql`: the same samples in Weir, Prometheus and
 * VictoriaMetrics at once, the same questions by turns, and ratios.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpClient } from '../../test/harness/http.ts';
import { findProgram } from '../../test/senders/program.ts';
import { onInterrupt } from '../interrupt.ts';
import { describeMachine } from '../machine.ts';
import { createMetricCorpus } from '../metric-corpus.ts';
import { settled } from './measure.ts';
import { measurePromql } from './measure-promql.ts';
import { assertComplete, type SamplesPeer, sendSamples } from './measure-samples.ts';
import { startPrometheus } from './prometheus.ts';
import { type LoadedSamples, listPromqlQuestions } from './promql-questions.ts';
import { promqlMarkdown } from './promql-report.ts';
import { replaceSection } from './report.ts';
import { startWeir } from './samples.ts';
import { findVictoriaMetrics, startVictoriaMetrics } from './victoria-metrics.ts';

export interface PromqlBenchOptions {
  readonly seed: number;
  /** Of 10,000 series over 4 hours, else 500 series over 1 hour, without waiting for merges. */
  readonly isQuick: boolean;
  /** Paths of binaries; undefined searches PATH. */
  readonly victoriaMetrics: string | undefined;
  readonly prometheus: string | undefined;
  /** Whether to write the section of RESULTS.md. */
  readonly isWritten: boolean;
}

const intervalMs = 15_000;
const results = new URL('./RESULTS.md', import.meta.url);

export async function benchPromql(options: PromqlBenchOptions): Promise<void> {
  const { seed, isQuick } = options;
  const victoriaMetrics = findVictoriaMetrics(options.victoriaMetrics);
  const prometheus = options.prometheus ?? findProgram('prometheus');
  if (victoriaMetrics === undefined || prometheus === undefined) {
    console.error(
      'bench: skipped --peers --corpus promql: prometheus or victoria-metrics is not in PATH; ' +
        'install the packages of these names or name the binaries with --prometheus PATH and ' +
        '--victoria-metrics PATH',
    );
    return;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'weir-peers-'));
  const folderOf = (name: string) => {
    mkdirSync(join(scratch, name));
    return join(scratch, name);
  };
  const systems: SamplesPeer[] = [];
  const cleanUp = async () => {
    await Promise.all(systems.splice(0).map((system) => system.stop()));
    rmSync(scratch, { recursive: true, force: true });
  };
  const interruption = onInterrupt(cleanUp);
  try {
    systems.push(await startWeir(join(scratch, 'weir')));
    systems.push(await startPrometheus(prometheus, folderOf('prometheus')));
    systems.push(await startVictoriaMetrics(victoriaMetrics, folderOf('victoria-metrics')));
    const shape = isQuick ? { series: 500, rounds: 240 } : { series: 10_000, rounds: 960 };
    const endMs = Date.now();
    const loads: LoadedSamples[] = [];
    for (const system of systems) {
      say(`load ${system.name}`);
      loads.push(await load(system, { seed, ...shape, endMs }));
    }
    if (!isQuick) {
      for (const { name, storeDir } of systems) {
        if (!(await settled(storeDir))) say(`${name} has not settled`);
      }
    }
    const warmUpSeconds = isQuick ? 0.2 : 5;
    const { questions, cpuSeconds } = await measurePromql(systems, {
      kinds: listPromqlQuestions(loads[0]!),
      warmUpSeconds,
      say,
    });
    const flags = `--corpus promql --seed ${seed}${isQuick ? ' --quick' : ''}`;
    const markdown = promqlMarkdown({
      command: `npm run bench -- --peers ${flags}`,
      machine: describeMachine(),
      when: new Date().toISOString().slice(0, 10),
      ...shape,
      warmUpSeconds,
      systems,
      questions,
      cpuSeconds,
    });
    console.log(markdown);
    if (!options.isWritten) return;
    writeFileSync(results, replaceSection(readFileSync(results, 'utf8'), 'promql', markdown));
  } finally {
    await cleanUp();
    interruption.cancel();
  }
}

interface Shape {
  readonly seed: number;
  readonly series: number;
  readonly rounds: number;
  readonly endMs: number;
}

/** Round after round, because Prometheus takes the samples of a series in order only. */
async function load(
  system: SamplesPeer,
  { seed, series, rounds, endMs }: Shape,
): Promise<LoadedSamples> {
  const startMs = endMs - rounds * intervalMs;
  const corpus = createMetricCorpus({
    seed,
    series,
    samplesPerRequest: 2_000,
    startMs,
    intervalMs,
  });
  const http = createHttpClient(system.ca);
  try {
    for (let round = 0; round < rounds; round++) {
      const bodies = Array.from({ length: corpus.requestsPerRound }, () => corpus.next().body);
      await Promise.all(bodies.map((body) => sendSamples(http, system, body)));
    }
    await system.stored();
    for (const { labels } of [corpus.series[0]!, corpus.series.at(-1)!]) {
      await assertComplete(http, system, { labels, rounds, endMs });
    }
  } finally {
    http.close();
  }
  return { series: corpus.series, startMs, endMs };
}

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
