/**
 * Reads of recent samples from memory while samples are inserted, series are dropped and streams
 * are forgotten, in random order and with statements that take their time. A series has all samples
 * that were inserted before its read began, and none of another stream.
 */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { suite, test } from 'node:test';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { ReadableStream } from '../../src/model/plan.ts';
import { createHead, type Head } from '../../src/store/head/head.ts';
import type { Statement } from '../../src/store/sql/statement.ts';
import { createRandom, type Random } from '../harness/random.ts';

const firstSeed = Number(process.env['HEAD_SEED'] ?? 1);
const seeds = Number(process.env['HEAD_SEEDS'] ?? 20);

const dayMs = 86_400_000;
const nowMs = 20_000 * dayMs + 12 * 3_600_000;
const hourMs = 3_600_000;
const accountId = 'account';
const streamIds = ['first', 'second'] as const;
type StreamId = (typeof streamIds)[number];

interface Sample {
  readonly series: number;
  readonly timeMs: number;
  readonly value: number;
}

/** Values by time. */
type Content = ReadonlyMap<number, number>;

/** What the store has of one stream: every state of each series, the last one counts. */
class StoredStream {
  readonly states = new Map<number, Content[]>();
  /** States of each series whose insert has been acknowledged. */
  acknowledged: ReadonlyMap<number, number> = new Map();

  insert(samples: readonly Sample[]): void {
    for (const { series, timeMs, value } of samples) {
      const states = this.states.get(series) ?? [new Map()];
      this.states.set(series, states);
      states.push(new Map([...states.at(-1)!, [timeMs, value]]));
    }
  }

  acknowledge(): void {
    this.acknowledged = new Map(
      [...this.states].map(([series, states]) => [series, states.length]),
    );
  }
}

class Run {
  readonly random: Random;
  readonly stored = new Map<StreamId, StoredStream>(
    streamIds.map((streamId) => [streamId, new StoredStream()]),
  );
  readonly head: Head;
  fromMemory = 0;

  constructor(seed: number) {
    this.random = createRandom(seed);
    const connection = { readBytes: (statement: Statement) => this.#answer(statement) };
    const limits = { maxSeconds: 60, maxMemoryBytes: 1, maxRowsRead: 1, maxRowsReturned: 1 };
    this.head = createHead(
      { connection, database: 'weir', limits },
      // Of a few series: others are dropped.
      { maxSamples: 300, now: () => nowMs },
    );
  }

  /** Lets others run, for microtasks or longer. */
  async pause(): Promise<void> {
    if (this.random.next() < 0.3) await setImmediate();
    for (let left = this.random.integer(0, 4); left > 0; left--) await Promise.resolve();
  }

  async insert(): Promise<void> {
    const streamId = this.random.pick(streamIds);
    const stream = this.stored.get(streamId)!;
    const samples = Array.from({ length: this.random.integer(1, 4) }, () =>
      this.#nextSample(stream),
    );
    stream.insert(samples);
    await this.pause();
    const batch = { owner: { accountId, streamId }, payload: encodePayload(samples) };
    this.head.inserted([{ ...batch, receivedAtNanos: 1n } as unknown as StampedBatch]);
    stream.acknowledge();
    await this.pause();
  }

  /** Mostly newer than the others, now and then late, again or with another value. */
  #nextSample({ states }: StoredStream): Sample {
    const series = this.random.integer(0, 5);
    const times = [...(states.get(series)?.at(-1) ?? new Map<number, number>()).keys()];
    const last = Math.max(nowMs - 2 * hourMs, ...times);
    const timeMs = this.random.pick([last + 15_000, last + 15_000, last, last - 7_000]);
    return { series, timeMs, value: this.random.integer(1, 3) };
  }

  async read(): Promise<void> {
    const asked = this.random.pick<readonly StreamId[]>([streamIds, ['first'], ['second']]);
    const fromMs = nowMs - this.random.integer(1, 10) * (hourMs / 4);
    const before = new Map(asked.map((id) => [id, this.stored.get(id)!.acknowledged]));
    const isOne = this.random.next() < 0.5;
    const wanted = String(this.random.integer(0, 5));
    const selector = [
      { name: '__name__', type: 'equal', value: 'm' },
      ...(isOne ? [{ name: 'n', type: 'equal', value: wanted } as const] : []),
    ] as const;
    const found = await this.head.read({
      accountId,
      streams: asked.map(toStream),
      selectors: [selector],
      fromMs: BigInt(fromMs),
      untilMs: BigInt(nowMs),
      maxSeries: 100,
      maxSamples: 100_000,
    });
    if (found === undefined) return;
    this.fromMemory += 1;
    const read = new Map(
      found.map(({ labels, times, values, from, to }) => {
        const samples = Array.from(times, (time, i) => [time, values[i]!] as const);
        const text = textOf(new Map(samples.slice(from, to)), fromMs);
        return [Number(labels.find(([name]) => name === 'n')![1]), text];
      }),
    );
    const numbers = isOne ? [Number(wanted)] : [0, 1, 2, 3, 4, 5];
    for (const series of numbers) {
      const possible = asked.map((id) => {
        const states = this.stored.get(id)!.states.get(series) ?? [];
        const known = before.get(id)!.get(series) ?? 0;
        const texts = states.slice(Math.max(known - 1, 0)).map((one) => textOf(one, fromMs));
        return known === 0 ? ['', ...texts] : texts;
      });
      const text = read.get(series) ?? '';
      // Memory answers only where one of the streams has the series.
      const isPossible = possible.some(
        (texts) =>
          texts.includes(text) && possible.every((one) => one === texts || one.includes('')),
      );
      const shown = `series ${series} of ${asked.join(' and ')} from ${fromMs}`;
      assert.ok(isPossible, `${shown} cannot be ${text || 'empty'}`);
    }
  }

  async #answer({ sql, params }: Statement): Promise<Buffer> {
    await this.pause();
    const values = Object.values(params).flat();
    const asked = streamIds.filter((id) => values.includes(id));
    const streams = asked.map((id) => this.stored.get(id)!);
    const answer = answerTo(sql, params, streams);
    await this.pause();
    return answer;
  }
}

function toStream(streamId: StreamId): ReadableStream {
  return { streamId, receivedFromNanos: 0n };
}

/** Samples within the range of a read. */
function textOf(content: Content, fromMs: number): string {
  const kept = [...content].filter(([timeMs]) => timeMs >= fromMs && timeMs <= nowMs);
  return kept
    .sort(([left], [right]) => left - right)
    .map((one) => one.join('='))
    .join(' ');
}

function answerTo(
  sql: string,
  params: Statement['params'],
  streams: readonly StoredStream[],
): Buffer {
  if (sql.includes('DISTINCT SeriesId')) return Buffer.alloc(0);
  if (sql.includes('groupUniqArray')) {
    const [stream] = streams as [StoredStream];
    const rows = [...stream.states].map(([series, states]) => {
      const days = new Set([...states.at(-1)!.keys()].map(toDay));
      return [encodeId(series), varint(days.size), ...[...days].map(uint16), encodeLabels(series)];
    });
    return Buffer.concat(rows.flat());
  }
  const [, name] = /UnixMilli >= \{(p\d+):Int64\}/.exec(sql)!;
  const fromMs = Number(params[name!]);
  const ids = Object.values(params).find((one) => typeof one === 'string' && one.startsWith('['));
  const wanted = (JSON.parse(ids as string) as number[]).map((id) => id - 1);
  const rows = wanted.flatMap((series) => {
    const all = streams.flatMap(({ states }) => [...(states.get(series)?.at(-1) ?? [])]);
    const samples = [...new Map(all)].filter(([timeMs]) => timeMs >= fromMs);
    if (samples.length === 0) return [];
    return [
      encodeId(series),
      varint(samples.length),
      ...samples.map(([timeMs]) => int64(timeMs)),
      varint(samples.length),
      ...samples.map(([, value]) => float64(value)),
    ];
  });
  return Buffer.concat(rows);
}

/** Sections of layout `metrics/1`. */
function encodePayload(samples: readonly Sample[]): Buffer {
  const series = Buffer.concat([
    varint(samples.length),
    ...samples.flatMap((one) => [
      encodeId(one.series),
      uint16(toDay(one.timeMs)),
      encodeLabels(one.series),
    ]),
  ]);
  const count = varint(samples.length);
  const rows = Buffer.concat([
    count,
    ...samples.map((one) => encodeId(one.series)),
    count,
    ...samples.map(({ timeMs }) => int64(timeMs)),
    count,
    ...samples.map(({ value }) => float64(value)),
  ]);
  const header = Buffer.alloc(20);
  header.writeUInt32LE(series.length, 0);
  header.writeUInt32LE(rows.length, 4);
  return Buffer.concat([header, series, rows]);
}

function toDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs);
}

/** 0 is no id. */
function encodeId(series: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(series + 1, 0);
  return bytes;
}

function encodeLabels(series: number): Buffer {
  const texts = ['__name__', 'm', 'n', String(series)].map((text) =>
    Buffer.concat([varint(text.length), Buffer.from(text)]),
  );
  return Buffer.concat([varint(2), ...texts]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}

function float64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

async function play(seed: number): Promise<Run> {
  const run = new Run(seed);
  const repeat = async (times: number, step: () => Promise<void> | void) => {
    for (let left = times; left > 0; left--) {
      await step();
      await run.pause();
    }
  };
  await Promise.all([
    repeat(150, () => run.insert()),
    ...Array.from({ length: 4 }, () => repeat(60, () => run.read())),
    repeat(10, async () => {
      for (let left = 12; left > 0; left--) await run.pause();
      run.head.forget(accountId, run.random.pick(streamIds));
    }),
  ]);
  return run;
}

suite('recent samples in memory', () => {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    test(`are those of the store at every time (seed ${seed})`, async () => {
      const run = await play(seed);
      assert.ok(run.fromMemory > 40, `only ${run.fromMemory} reads were answered from memory`);
    });
  }
});
