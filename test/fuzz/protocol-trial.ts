/**
 * Feeds bodies to one protocol like ingest does (unframe, inflate, decode, encode the answer) and
 * checks the rules of decoders: no error but AppError, never a partial batch, deterministic, no
 * access to the body or to earlier results.
 */
import assert from 'node:assert/strict';
import { tooLarge } from '../../src/admission/body.ts';
import { inflate } from '../../src/admission/inflate.ts';
import type { MemoryLease } from '../../src/admission/port.ts';
import type { Batch } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import { type BodyFormat, capsOf, type Problem, type Protocol } from '../../src/model/protocol.ts';
import { seriesState, type SeriesView } from '../../src/model/series-view.ts';
import { sectionOf } from '../../src/codec/metric-rows.ts';
import { readMetricRows } from '../protocols/read-metric-rows.ts';
import { checkBatch } from './batch-rules.ts';

/** The outcome of an input, equal for equal bytes. */
export type Outcome = Batch | AppError;

/** A decoder with its working memory, fed sequentially. */
export interface Trial {
  /** @throws on a violation. */
  feed(input: Buffer): Promise<Outcome>;
}

export interface Wire {
  readonly protocol: Protocol;
  readonly format: BodyFormat;
  /** Events in a body, counted by other means; undefined = unknown. */
  readonly countEvents?: (body: Buffer) => number | undefined;
}

const nowMs = 1_767_319_445_123;
const refusals: ReadonlySet<string> = new Set(['malformed', 'too_large', 'quota_exceeded']);
const lease: MemoryLease = {
  growTo: () => undefined,
  coverHeap: () => undefined,
  buffer: (bytes) => Buffer.alloc(bytes),
  release: () => undefined,
};

export function openProtocol(wire: Wire): Trial {
  let before: { readonly batch: Batch; readonly payload: Buffer } | undefined;
  return {
    async feed(input) {
      const outcome = await decodeOnce(wire, within(input, 0x22));
      assertSame(await decodeOnce(wire, within(input, 0x0a)), outcome);
      if (before !== undefined) {
        assert.ok(before.payload.equals(before.batch.payload), 'an earlier batch was modified');
      }
      if (outcome instanceof AppError) {
        checkRefusal(outcome, wire);
        return outcome;
      }
      checkBatch(outcome, wire.protocol.limits);
      const events = wire.countEvents?.(input) ?? outcome.rows + outcome.rejectedCount;
      assert.equal(outcome.rows + outcome.rejectedCount, events, 'events are stored or rejected');
      checkReply(outcome, wire);
      before = { batch: outcome, payload: Buffer.from(outcome.payload) };
      return outcome;
    },
  };
}

/** @throws AssertionError unless both are equal. */
export function assertSame(one: Outcome, two: Outcome): void {
  assert.deepEqual(describe(one), describe(two), 'equal bytes must give equal results');
}

/** A view into a larger buffer, which must make no difference. */
function within(input: Buffer, around: number): Buffer {
  const margin = 64;
  return Buffer.concat([
    Buffer.alloc(margin, around),
    input,
    Buffer.alloc(margin, around),
  ]).subarray(margin, margin + input.length);
}

async function decodeOnce({ protocol, format }: Wire, body: Buffer): Promise<Outcome> {
  const untouched = Buffer.from(body);
  const series = new DrawnSeriesView(body.length % 4 === 0);
  try {
    const message = await toMessage({ protocol, format }, body);
    const { limits } = protocol;
    const batch = await protocol.decode(message, format, { limits, nowMs, series });
    if (batch.layout === 'metrics/1') series.check(batch);
    return batch;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  } finally {
    assert.ok(body.equals(untouched), 'the body was modified');
  }
}

/** Read like in ingest. */
async function toMessage({ protocol, format }: Wire, body: Buffer): Promise<Buffer> {
  const { wireBytes, inflatedBytes } = capsOf(protocol, format);
  if (body.length > wireBytes) throw tooLarge(wireBytes);
  const { message, coding } = protocol.unframe?.(body, format) ?? {
    message: body,
    coding: format.coding,
  };
  return inflate(message, coding, { maxBytes: inflatedBytes, memory: lease });
}

function checkRefusal(error: AppError, { protocol, format }: Wire): void {
  assert.ok(refusals.has(error.code), `${error.code} is no refusal of a decoder: ${error.message}`);
  assert.match(error.message, /^cannot /);
  assert.ok(error.message.isWellFormed(), 'a message must be text');
  assert.ok(error.message.length < 2000, `a message of ${error.message.length} characters`);
  const problem: Problem = {
    status: error.kind.httpStatus,
    grpcCode: error.kind.grpcCode,
    code: error.code,
    title: error.kind.title,
    detail: error.message,
    requestId: 'fuzz',
    parameter: error.parameter,
    retryAfterSeconds: undefined,
  };
  const encoded = protocol.encodeProblem?.(problem, format.mediaType);
  if (encoded === undefined) return;
  assert.ok(encoded.body.length > 0);
  if (encoded.contentType === 'application/json') JSON.parse(String(encoded.body));
}

function checkReply(batch: Batch, { protocol, format }: Wire): void {
  const { status, contentType, body } = protocol.reply(batch, format);
  const isPartlyRefused = batch.rejectedCount > 0 && status === 400;
  assert.ok([200, 201, 202, 204].includes(status) || isPartlyRefused, `the answer is ${status}`);
  if (contentType === 'application/json') JSON.parse(String(body));
}

function describe(outcome: Outcome): unknown {
  if (outcome instanceof AppError) return [outcome.code, outcome.message, outcome.parameter];
  return { ...outcome, payload: Buffer.from(outcome.payload).toString('base64') };
}

/** Knows some series and may refuse some, depending on their ids. */
class DrawnSeriesView implements SeriesView {
  readonly streamId = '';
  readonly maxSeries = 1000;
  readonly scope = 0;
  readonly #refuses: boolean;
  readonly #refused = new Set<bigint>();
  readonly #new = new Set<string>();

  constructor(refuses: boolean) {
    this.#refuses = refuses;
  }

  look(ids: Uint32Array, at: number, day: number) {
    const words = [3, 2, 1, 0].map((word) => ids[at + word]!);
    const id = words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
    if (id % 4n === 0n) return seriesState.known;
    if (this.#refuses && id % 16n === 1n) {
      this.#refused.add(id);
      return seriesState.refused;
    }
    const key = `${id} ${day}`;
    if (this.#new.has(key)) return seriesState.pending;
    this.#new.add(key);
    return seriesState.new;
  }

  /** New series must be in the batch, refused ones must not. */
  check({ payload }: Batch): void {
    if (sectionOf(payload, 'series').length === 0 && this.#new.size === 0) return;
    const { series, ...records } = readMetricRows(payload);
    const brought = series.map(({ id, day }) => `${id} ${day}`);
    assert.deepEqual(brought.toSorted(), [...this.#new].toSorted(), 'labels of each new series');
    for (const { id } of [...records.samples, ...records.histograms, ...records.exemplars]) {
      assert.ok(!this.#refused.has(id), 'a refused series was written');
    }
  }
}
