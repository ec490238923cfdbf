/**
 * Months of an account's life: requests of both protocols, clocks that stand still, step and jump,
 * midnights, restarts, deletions, moved receivers, housekeeping. Reads always agree with a map of
 * the acknowledged samples. `WEIR_SEED` and `WEIR_STEPS` replay a run.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ReceiptClock } from '../../src/queue/disk/receipt-clock.ts';
import { type Labels, type Sample, type WrittenSeries, toBits } from '../harness/prompb.ts';
import { createRandom } from '../harness/random.ts';
import { openPipeline, type Pipeline, type Range } from './pipeline.ts';

const seed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const steps = Number(process.env['WEIR_STEPS'] ?? 80);
const minuteMs = 60_000;
const dayMs = 86_400_000;
const nanosPerSecond = 1_000_000_000n;
const hourMs = 60 * minuteMs;
const retentionDays = 1;
const seriesPerStream = 6;
const name = 'life';
const startMs = Date.UTC(2026, 4, 20, 22);

interface Kept {
  readonly bits: bigint;
  /** Unix second of receipt. */
  readonly second: bigint;
}

interface ModelStream {
  readonly streamId: string;
  /** By series, then time: the last accepted. */
  readonly kept: Map<number, Map<bigint, Kept>>;
}

type Taken = readonly { readonly series: number; readonly samples: readonly Sample[] }[];

const random = createRandom(seed);
let pipeline: Pipeline;
/** Times of receipt, as assigned by the queue. */
let receipt: ReceiptClock;
let streams: [ModelStream, ModelStream];
let receiverId: string;
/** Of the receiver's stream. */
let fed = 0;
/** Last housekeeping, Unix ms: expired data has been deleted, even if clocks go back. */
let freedMs = 0;

before(async () => {
  pipeline = await openPipeline({ nowMs: startMs });
  receipt = new ReceiptClock(0n, () => pipeline.nowMs);
  const ids = [
    await pipeline.createStream(retentionDays),
    await pipeline.createStream(retentionDays),
  ];
  streams = ids.map((streamId) => ({ streamId, kept: new Map() })) as typeof streams;
  receiverId = await pipeline.createReceiver(streams[0].streamId);
});
after(() => pipeline.close());

const oddBits = [
  0x7ff0_0000_0000_0002n,
  0x7ff8_0000_0000_0001n,
  0xfff8_0000_0000_0bedn,
  0x8000_0000_0000_0000n,
  0x0000_0000_0000_0001n,
  0x7ff0_0000_0000_0000n,
  0x4340_0000_0000_0000n,
  0x4340_0000_0000_0001n,
  0xc340_0000_0000_0000n,
  0x7fef_ffff_ffff_ffffn,
] as const;
const farTimes = [-dayMs, -1, 0, 65_535 * dayMs - 1, 65_535 * dayMs, 65_536 * dayMs, 2 ** 52];

/** Some series are current, some are late by a fixed day, others have arbitrary times. */
function randomTime(series: number): bigint {
  const { nowMs } = pipeline;
  const near = nowMs - random.integer(0, 5 * minuteMs);
  if (series % 3 === 0) return BigInt(near);
  if (series % 3 === 1) return BigInt(startMs - 10 * dayMs + random.integer(0, minuteMs));
  const edge = nowMs - (nowMs % dayMs) - random.integer(0, 1);
  const other = nowMs + random.integer(-40, 2) * dayMs;
  const far = farTimes[random.integer(0, farTimes.length - 1)]!;
  return BigInt(random.pick([near, edge, other, far]));
}

function randomBits(): bigint {
  if (random.next() < 0.3) return random.pick(oddBits);
  return toBits(random.next() < 0.5 ? random.integer(-1000, 1000) : random.next() * 1e6);
}

/** Streams share no labels; of a sample in two streams only the second of receipt is known. */
const labelsOf = (stream: number, series: number): Labels => ({
  __name__: name,
  series: String(series),
  stream: String(stream),
});

/** One request, or several concurrent ones without common samples. */
function keep(taken: Taken): void {
  const second = receipt.stamp() / nanosPerSecond;
  const { kept } = streams[fed]!;
  for (const { series, samples } of taken) {
    const own = kept.get(series) ?? new Map<bigint, Kept>();
    kept.set(series, own);
    for (const { timeMs, bits } of samples) own.set(timeMs, { bits, second });
  }
}

async function writeAll(requests: readonly Taken[]): Promise<void> {
  const outcomes = requests.map((taken) => pipeline.write(receiverId, toWire(taken)));
  for (const outcome of await Promise.all(outcomes)) assert.equal(outcome, 204);
  for (const taken of requests) keep(taken);
}

async function write(): Promise<void> {
  await writeAll([randomTaken()]);
}

function randomTaken(): Taken {
  return Array.from({ length: random.integer(1, 4) }, () => {
    const series = randomSeries();
    const samples = Array.from({ length: random.integer(1, 3) }, () => ({
      timeMs: randomTime(series),
      bits: randomBits(),
    }));
    return { series, samples };
  });
}

const randomSeries = () => random.integer(0, seriesPerStream - 1);

/** Decoded on one day, received on the next; an older request is refused. */
async function writeOverMidnight(): Promise<void> {
  const toMidnightMs = dayMs - (pipeline.nowMs % dayMs);
  pipeline.nowMs += toMidnightMs - random.integer(1, minuteMs);
  const turnMs = random.pick([minuteMs, 50 * minuteMs, hourMs, 2 * dayMs]);
  pipeline.turnWhileTakenMs = turnMs;
  const taken = randomTaken();
  const outcome = await pipeline.write(receiverId, toWire(taken));
  assert.equal(outcome, turnMs < hourMs ? 204 : 'unavailable');
  if (outcome === 204) keep(taken);
}

function toWire(taken: Taken): WrittenSeries[] {
  return taken.map(({ series, samples }) => ({ labels: labelsOf(fed, series), samples }));
}

/** Each may be the first with the series. */
async function writeAtOnce(): Promise<void> {
  const series = randomSeries();
  const firstMs = randomTime(series);
  await writeAll(
    [0n, 1n, 2n].map((ms) => [{ series, samples: [{ timeMs: firstMs + ms, bits: randomBits() }] }]),
  );
}

async function push(): Promise<void> {
  const value = random.integer(0, 1000);
  const series = randomSeries();
  const ownTime = random.next() < 0.5 ? randomTime(series) : undefined;
  const text = `${name}{stream="${fed}",series="${series}"} ${value} ${ownTime ?? ''}\n`;
  assert.equal(await pipeline.push(receiverId, text), 202);
  const timeMs = ownTime ?? BigInt(pipeline.nowMs);
  keep([{ series, samples: [{ timeMs, bits: toBits(value) }] }]);
}

function turnClock(): void {
  const toMidnightMs = dayMs - (pipeline.nowMs % dayMs);
  const often = [10, minuteMs, 5 * hourMs, 11 * hourMs, toMidnightMs - 1, toMidnightMs] as const;
  const rarely = [dayMs, 3 * dayMs, -minuteMs, -dayMs] as const;
  pipeline.nowMs += random.next() < 0.8 ? random.pick(often) : random.pick(rarely);
}

async function deleteData(): Promise<void> {
  const { streamId, kept } = random.pick(streams);
  await pipeline.admin('deleteStreamData', { streamId });
  receipt.passSecond();
  kept.clear();
}

async function moveReceiver(): Promise<void> {
  fed = 1 - fed;
  await pipeline.admin('updateReceiver', { receiverId }, { streamId: streams[fed]!.streamId });
}

async function restart(): Promise<void> {
  if (random.next() < 0.5) await pipeline.settle();
  await pipeline.restart();
}

/** Without a disk cap nothing live may be dropped; over it everything but the newest day is. */
async function housekeep(): Promise<void> {
  await pipeline.settle();
  freedMs = Math.max(freedMs, pipeline.nowMs);
  if (random.next() < 0.7) return pipeline.housekeep();
  await write();
  await pipeline.settle();
  await pipeline.housekeep(1);
  const newestDay = receipt.last / nanosPerSecond / 86_400n;
  for (const own of streams.flatMap(({ kept }) => [...kept.values()])) {
    for (const [timeMs, { second }] of own) {
      if (second / 86_400n < newestDay) own.delete(timeMs);
    }
  }
}

/** Expected result for a range: lines of labels, time and bits. */
function expected({ fromMs, untilMs }: Range): { lines: string[]; expired: Set<string> } {
  const expireMs = Math.max(pipeline.nowMs, freedMs);
  const keptFrom = BigInt(Math.ceil((expireMs - retentionDays * dayMs) / 1000));
  const lines: string[] = [];
  const expired = new Set<string>();
  for (const [stream, { kept }] of streams.entries()) {
    for (const [series, own] of kept) {
      for (const [timeMs, { bits, second }] of own) {
        if (timeMs < fromMs || timeMs > untilMs) continue;
        const line = toLine(labelsOf(stream, series), { timeMs, bits });
        if (second >= keptFrom) lines.push(line);
        else expired.add(line);
      }
    }
  }
  return { lines: lines.sort(), expired };
}

function toLine(labels: Labels, { timeMs, bits }: Sample): string {
  return `${JSON.stringify(labels)} ${timeMs} ${bits.toString(16)}`;
}

function randomRange(): Range {
  if (random.next() < 0.4) return { fromMs: -(2 ** 53), untilMs: 2 ** 53 };
  const time = Number(randomTime(randomSeries()));
  return { fromMs: time, untilMs: time + random.pick([0, 1, minuteMs, dayMs]) };
}

async function check(): Promise<void> {
  const range = randomRange();
  const series = await pipeline.read(name, range);
  const lines = series.flatMap(({ labels, samples }) => {
    assert.ok(samples.length > 0, `${JSON.stringify(labels)} has no samples`);
    return samples.map((sample) => toLine(labels, sample));
  });
  const wanted = expected(range);
  // A clock that goes back reveals data that retention had hidden and housekeeping has not dropped.
  const isBack = pipeline.nowMs < freedMs;
  const found = isBack ? lines.filter((line) => !wanted.expired.has(line)) : lines;
  assert.deepEqual(found.sort(), wanted.lines, JSON.stringify(range));
}

const acts: readonly (readonly [number, () => Promise<void> | void])[] = [
  [8, write],
  [4, writeAtOnce],
  [4, push],
  [1, writeOverMidnight],
  [6, turnClock],
  [1, deleteData],
  [1, moveReceiver],
  [1, restart],
  [3, housekeep],
];
const bag = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

test('reads exactly what was acknowledged', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const done: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    const act = bag[random.integer(0, bag.length - 1)]!;
    done.push(`${step}: ${act.name} at ${new Date(pipeline.nowMs).toISOString()}`);
    try {
      await act();
      await check();
    } catch (error) {
      t.diagnostic(`seed ${seed}\n${done.join('\n')}`);
      throw error;
    }
  }
});
