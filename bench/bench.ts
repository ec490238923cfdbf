/**
 * `npm run bench`: one run of everything on one machine, the real process over TLS, as a Markdown
 * table on standard output and in `bench/RESULTS.md`. `--quick` only checks that the benchmark
 * works; `--scaled` compares the scaled-out set with the embedded one; `--fairness` runs a light
 * list beside heavy queries of another account; `--contention` measures ingest beside clients that
 * ask; `--ways` measures only ingest by protocol, `--questions` only questions about labels and
 * messages; `--peers` compares Weir with VictoriaLogs,
 * VictoriaMetrics or Prometheus;
 * `--compare BASE` compares the quick run of this tree with that of a git revision.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions } from '../scripts/script-options.ts';
import { type Service, startService } from '../test/harness/service.ts';
import { measureEngineAlone } from './ceiling-engine.ts';
import { createCorpus } from './corpus.ts';
import { measureDecoders } from './decoders.ts';
import { fill, measureBurst, measureLimit, measureSustained } from './ingest.ts';
import { type Load, startLoad } from './load.ts';
import type { LoadShape } from './load-bodies.ts';
import { describeMachine } from './machine.ts';
import { peakMemoryBytes } from './processes.ts';
import { measureQueries, measureQuestions } from './queries.ts';
import { measureReadable } from './readable.ts';
import { type LogResults, queriesTable, type Results, toMarkdown, waysInTable } from './report.ts';
import { measureSampleBytes } from './sample-bytes.ts';
import { diskBytes, drained, indexed } from './service-gauge.ts';
import { measureWaysIn } from './ways-in.ts';

const values = parseOptions(import.meta.url, {
  rows: { type: 'string' },
  seconds: { type: 'string' },
  rate: { type: 'string', default: '150000' },
  seed: { type: 'string', default: '1' },
  quick: { type: 'boolean', default: false },
  scaled: { type: 'boolean', default: false },
  fairness: { type: 'boolean', default: false },
  contention: { type: 'boolean', default: false },
  peers: { type: 'boolean', default: false },
  ways: { type: 'boolean', default: false },
  questions: { type: 'boolean', default: false },
  corpus: { type: 'string', default: 'services' },
  'victoria-logs': { type: 'string' },
  'victoria-metrics': { type: 'string' },
  prometheus: { type: 'string' },
  write: { type: 'boolean', default: false },
  compare: { type: 'string' },
  rounds: { type: 'string', default: '2' },
});
const rows = Number(values.rows ?? (values.quick ? 300_000 : 10_000_000));
const seconds = Number(values.seconds ?? (values.quick ? 5 : 60));
/** Events per second to sustain. */
const rate = Number(values.rate);
const seed = Number(values.seed);
/** Too few rows to measure: it only checks that each part runs. */
const isSmokeTest = values.quick && rows < 300_000;
const burstSeconds = isSmokeTest ? 1 : values.quick ? 3 : 10;
const samples = values.quick ? 3 : 20;
const rounds = isSmokeTest ? 2 : 30;
const bodies = isSmokeTest ? 16 : 128;

const corpus = createCorpus(seed, bodies, 1_000);
const waySeconds = values.quick ? 0.5 : 10;
if (values.scaled) {
  const { benchScaled } = await import('./scaled/scaled.ts');
  const size = values.quick ? { seconds: 3, rate: 5_000 } : { seconds: 15, rate: 50_000 };
  const asked = { seconds: Number(values.seconds ?? size.seconds), rate: size.rate };
  await benchScaled({ seed, samples, ...asked }, !values.quick);
} else if (values.fairness) {
  const { benchFairness } = await import('./fairness.ts');
  const size = values.quick ? { rows: 200_000, samples: 20 } : { rows: 3_000_000, samples: 300 };
  await benchFairness({ seed, ...size, rows: Number(values.rows ?? size.rows) });
} else if (values.contention) {
  const { benchContention } = await import('./contention.ts');
  const size = values.quick ? { rows: 200_000, seconds: 3 } : { rows: 3_000_000, seconds: 20 };
  const asked = {
    rows: Number(values.rows ?? size.rows),
    seconds: Number(values.seconds ?? size.seconds),
  };
  await benchContention({ seed, rate, ...asked });
} else if (values.ways) {
  const waysIn = await measureWaysIn(
    { seed, bodies, seconds: Number(values.seconds ?? waySeconds) },
    say,
  );
  console.log(waysInTable({ waysIn }).join('\n'));
} else if (values.questions) {
  await benchQuestions();
} else if (values.peers && values.corpus === 'samples') {
  const { benchSamples } = await import('./peers/samples.ts');
  const { 'victoria-metrics': victoriaMetrics, write: isWritten } = values;
  await benchSamples({ seed, rows, victoriaMetrics, isWritten });
} else if (values.peers && values.corpus === 'promql') {
  const { benchPromql } = await import('./peers/promql.ts');
  const { 'victoria-metrics': victoriaMetrics, prometheus, write: isWritten, quick } = values;
  await benchPromql({ seed, isQuick: quick, victoriaMetrics, prometheus, isWritten });
} else if (values.peers) {
  const { benchPeers } = await import('./peers/peers.ts');
  const { corpus: kind, 'victoria-logs': victoriaLogs, write: isWritten } = values;
  await benchPeers({ seed, rows, corpus: kind, victoriaLogs, isWritten });
} else if (values.compare !== undefined) {
  if (!values.quick) throw new Error('cannot compare full runs: add --quick');
  const { benchCompare } = await import('./compare/compare.ts');
  const isGood = await benchCompare({ base: values.compare, rounds: Number(values.rounds) });
  process.exitCode = isGood ? 0 : 1;
} else {
  await benchAll();
}

async function benchAll(): Promise<void> {
  const results: Results = {
    ...(await measureLogs()),
    waysIn: await measureWaysIn({ seed, bodies, seconds: waySeconds }, say),
    decoders: await measureDecoders(seed, isSmokeTest ? 0.1 : values.quick ? 1 : 5),
    sampleBytes: await measureSampleBytes(seed, isSmokeTest ? 5 : values.quick ? 50 : 960),
  };
  const markdown = toMarkdown(results);
  console.log(markdown);
  if (!values.quick) writeFileSync(new URL('./RESULTS.md', import.meta.url), markdown);
}

/** Loads the rows of a day as fast as they are stored. */
async function benchQuestions(): Promise<void> {
  const weir = await startService();
  try {
    const endMs = Date.now();
    const startMs = endMs - 86_400_000;
    const past = { startMs, endMs, events: rows };
    const batches = load(weir, { connections: 16, bodies, eventsPerBody: 1_000, past });
    say(`fill with ${rows} rows`);
    await fill(weir, batches, rows);
    await batches.stop();
    await drained(weir);
    await indexed(weir);
    say('questions');
    await measureQuestions(weir, { startMs, endMs }, rounds);
    // Requested labels are counted within half a minute.
    await sleep(30_000);
    const figures = await measureQuestions(weir, { startMs, endMs }, rounds);
    console.log(queriesTable(figures).join('\n'));
  } finally {
    await weir.stop();
  }
}

async function measureLogs(): Promise<LogResults> {
  const weir = await startService();
  try {
    return await measureAll(weir);
  } finally {
    await weir.stop();
  }
}

async function measureAll(weir: Service): Promise<LogResults> {
  say('readable when idle');
  const startMs = Date.now() - 60_000;
  const readableIdle = await measureReadable(weir, samples, 50);

  say('single events on 64 connections');
  const singlesLoad = load(weir, { connections: 64, bodies: 6_400, eventsPerBody: 1 });
  const singles = await measureBurst(weir, singlesLoad, burstSeconds);
  const singleBytes = singlesLoad.totals().bytes;
  await singlesLoad.stop();
  await drained(weir);

  const batches = load(weir, { connections: 16, bodies, eventsPerBody: 1_000 });
  say('burst');
  const burst = await measureBurst(weir, batches, burstSeconds);
  await drained(weir);

  say('sustained');
  const [sustained, readableUnderLoad] = await Promise.all([
    measureSustained(weir, batches, seconds, rate),
    measureReadable(weir, samples, 250),
  ]);

  say('limit of the store');
  const limit = await measureLimit(weir, batches, seconds / 2);

  const histogram = { startTime: startMs, endTime: Date.now() + 60_000, buckets: 1 };
  await drained(weir);
  const soFar = await weir.histogram(histogram);
  if (soFar.total < rows) {
    say(`fill up to ${rows} rows`);
    await fill(weir, batches, rows - soFar.total);
  }
  await drained(weir);
  const { total } = await weir.histogram({ ...histogram, endTime: Date.now() + 60_000 });
  const rawBytes = singleBytes + batches.totals().bytes;
  await batches.stop();
  await indexed(weir);
  const onDisk = diskBytes(weir.dataDir);

  say(`queries over ${total} rows`);
  const probes = [...readableUnderLoad.probes, ...readableIdle.probes];
  const span = { startMs, endMs: Date.now(), needles: corpus.needles, probes };
  const queries = await measureQueries(weir, span, rounds);
  const memory = {
    gateway: peakMemoryBytes(weir.process.pid),
    engine: Math.max(...weir.enginePids().map(peakMemoryBytes)),
  };

  say('ceilings');
  const ceilings = {
    'engine alone, same rows': await measureEngineAlone(corpus.bodies, burstSeconds),
  };
  return {
    command: `npm run bench -- --rows ${rows} --seconds ${seconds} --rate ${rate} --seed ${seed}`,
    machine: describeMachine(),
    when: new Date().toISOString().slice(0, 10),
    seed,
    burst,
    sustained,
    limit,
    singles,
    ceilings,
    readableIdle: readableIdle.ms,
    readableUnderLoad: readableUnderLoad.ms,
    rows: total,
    bytesOnDiskPerRawByte: onDisk / rawBytes,
    peakMemoryBytes: memory,
    queries,
  };
}

function load(
  weir: Service,
  shape: Pick<LoadShape, 'connections' | 'bodies' | 'eventsPerBody' | 'past'>,
): Load {
  const { caFile, receivers } = weir.quickstart;
  const { url, token } = receivers.http_json;
  const form = 'json_logs';
  return startLoad({ seed, form, ca: readFileSync(caFile, 'utf8'), url, token, ...shape });
}

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
