/**
 * Model test of the queue: random calls, crashes at any step, power cuts, failing syncs and flipped
 * bits, each followed by a comparison with what was acknowledged.
 */
import assert from 'node:assert/strict';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { DiskQueue } from '../../src/queue/disk/disk-queue.ts';
import type { FileSystem } from '../../src/files/file-system.ts';
import { type Entry, isOutOfRoom, makeRecord } from './queue-model-entry.ts';
import { Random } from './random.ts';
import { recordTelemetry } from './recording-telemetry.ts';
import { attempt, emptyStatus, turn } from './simulated-calls.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const directory = '/queue';
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

export interface RunOptions {
  readonly seed: number;
  /** Bits flip between two runs; losses must then be reported. */
  readonly flips: boolean;
  /** Wraps the simulated disk; a canary injects a fault here. */
  readonly wrap: (fs: FileSystem) => FileSystem;
}

/** One history of a queue over several runs. @throws AssertionError if the queue is wrong */
export async function runModel(options: RunOptions): Promise<void> {
  const model = new QueueModel(options);
  const lives = 1 + model.random.below(4);
  for (let life = 0; life < lives; life++) await model.live();
  await model.drainAll();
}

class QueueModel {
  readonly random: Random;
  readonly #options: RunOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ids = new Set<string>();
  readonly #heard = recordTelemetry();
  readonly #limits: { segmentBytes: number; memoryTailBytes: number };
  #fs: SimulatedFileSystem;
  #nowMs = 1_700_000_000_000;
  #latestMs = 0;
  #isFlipped = false;
  #highestWatermark = 0n;
  #highestSequence = 0n;
  #acknowledged = 0;
  #made = 0;
  /** Of the current run. */
  #handedOut: StampedBatch[] = [];
  #lastHanded = 0n;

  constructor(options: RunOptions) {
    this.#options = options;
    this.random = new Random(options.seed);
    this.#fs = new SimulatedFileSystem(this.random);
    this.#limits = {
      segmentBytes: this.random.pick([300, 1000, 5000]),
      memoryTailBytes: this.random.pick([0, 3000, 100_000]),
    };
  }

  /** Opens the queue, uses it for a while, and closes, kills or power-cuts it. */
  async live(): Promise<void> {
    if (this.random.chance(0.7)) this.#fs.crashAfter(this.random.below(150));
    if (this.random.chance(0.1)) this.#fs.failSyncAfter(this.random.below(20));
    if (this.random.chance(0.3)) this.#fs.fillAfter(this.random.below(30), this.random.below(10));
    const queue = await this.#open();
    if (queue !== undefined) {
      const calls = this.random.below(25);
      for (let call = 0; call < calls; call++) await this.#call(queue);
      if (this.random.chance(0.3)) await attempt(() => queue.close());
    }
    this.#fs = this.random.chance(0.5) ? this.#fs.afterKill() : this.#fs.afterPowerLoss();
    if (this.#options.flips && this.random.chance(0.5) && this.#fs.flipBit()) {
      this.#isFlipped = true;
    }
  }

  /** The last run: without faults, and every acknowledged batch must be taken. */
  async drainAll(): Promise<void> {
    const queue = await this.#open();
    assert.ok(queue, 'the queue opens when nothing fails');
    while (queue.status().bytes > 0) {
      // Damaged batches are counted until a take finds them unreadable.
      const taken = await Promise.race([queue.take({ maxRows: 7, maxBytes: 4000 }), turn()]);
      if (taken === undefined) break;
      this.#checkTaken(taken.batches, taken.suspect);
      const last = taken.batches.at(-1);
      if (last !== undefined) await this.#release(queue, last.id.sequence);
    }
    for (const entry of this.#entries.values()) {
      if (entry.state === 'acknowledged') this.#mayBeLost(entry);
    }
    assert.deepEqual({ ...queue.status(), quarantinedBatches: 0 }, emptyStatus);
    await this.#append(queue);
    await queue.close();
    assert.equal(this.#fs.openFiles, 0, 'every file is closed');
    this.#checkReports();
  }

  /** Without flipped bits, no loss may be reported. */
  #checkReports(): void {
    const { damage, foreign, checkpoints, marks } = this.#heard.reported;
    assert.deepEqual(foreign, []);
    if (this.#isFlipped) return;
    assert.deepEqual([...checkpoints, ...marks], []);
    assert.deepEqual(
      damage.filter(({ kind }) => kind !== 'torn'),
      [],
    );
  }

  async #open(): Promise<DiskQueue | undefined> {
    this.#handedOut = [];
    this.#lastHanded = 0n;
    // The clock may step back by at most the duration of a start, which is undetectable.
    this.#nowMs = this.#latestMs + 1000;
    const queue = await attempt(() =>
      openDiskQueue(
        {
          directory,
          ...this.#limits,
          minFreeDiskBytes: 0,
          fileSystem: this.#options.wrap(this.#fs),
          now: () => this.#now(),
        },
        this.#heard.telemetry,
      ),
    );
    if (queue === undefined) return undefined;
    for (const entry of this.#entries.values()) this.#checkRecall(queue, entry);
    return queue;
  }

  async #call(queue: DiskQueue): Promise<void> {
    const kind = this.random.below(10);
    if (kind < 5) {
      const appends = Array.from({ length: 1 + this.random.below(4) }, () => this.#append(queue));
      await Promise.all(appends);
    } else if (kind < 7) {
      await this.#take(queue);
    } else if (kind < 9) {
      const upTo = this.random.pick([...this.#handedOut, undefined]);
      if (upTo !== undefined) await attempt(() => this.#release(queue, upTo.id.sequence));
    } else {
      const batch = this.random.pick([...this.#handedOut, undefined]);
      if (batch !== undefined) await attempt(() => queue.quarantine(batch, 'because'));
      else await attempt(() => queue.freeReleased());
      this.#checkWatermark(queue);
    }
  }

  async #append(queue: DiskQueue): Promise<void> {
    const payload = Buffer.from(`${++this.#made}:${'x'.repeat(this.random.below(900))}`);
    const record = this.random.chance(0.4) ? makeRecord(this.random) : undefined;
    const entry: Entry = { payload, record, state: 'asked', sequence: undefined };
    this.#entries.set(payload.toString(), entry);
    const watermark = this.#highestWatermark;
    const rows = 1 + this.random.below(3);
    const content = { layout: 'logs/1', rows, payload } as const;
    const appended = await attempt(() =>
      queue.append(content, owner, record).catch((error: unknown) => {
        if (isOutOfRoom(error)) entry.state = 'refused';
        throw error;
      }),
    );
    if (appended === undefined) return;
    assert.ok(
      appended.receivedAtNanos > watermark || this.#isFlipped,
      'received at or before a watermark',
    );
    this.#ids.add(`${queue.writer} ${appended.sequence}`);
    assert.equal(this.#ids.size, ++this.#acknowledged, 'a batch id was assigned twice');
    const isTaken = entry.sequence === appended.sequence;
    const isNew = appended.sequence > this.#highestSequence || isTaken;
    assert.ok(isNew || this.#isFlipped, 'a new sequence');
    this.#highestSequence = appended.sequence;
    entry.state = 'acknowledged';
    entry.sequence = appended.sequence;
    this.#checkRecall(queue, entry);
  }

  async #take(queue: DiskQueue): Promise<void> {
    const limits = { maxRows: 1 + this.random.below(10), maxBytes: this.random.below(5000) };
    const before = this.#handedOut.length;
    const taking = attempt(() => queue.take(limits)).then((taken) => {
      if (taken !== undefined) this.#checkTaken(taken.batches, taken.suspect);
      return taken;
    });
    // On an empty queue it waits for the next append.
    await Promise.race([taking, turn()]);
    if (this.#handedOut.length === before) await this.#append(queue);
    await Promise.race([taking, turn()]);
  }

  #checkTaken(batches: readonly StampedBatch[], suspect: boolean): void {
    assert.ok(batches.length > 0, 'a take returns batches');
    for (const batch of batches) {
      const entry = this.#entries.get(Buffer.from(batch.payload).toString());
      assert.ok(entry, `batch ${batch.id.sequence} was never appended`);
      assert.deepEqual(batch.owner, owner);
      assert.notEqual(entry.state, 'refused', `batch ${batch.id.sequence} was refused`);
      const { sequence, writer } = batch.id;
      assert.ok(
        sequence > this.#lastHanded,
        `batch ${sequence} was handed out twice or out of order`,
      );
      if (entry.sequence !== undefined) assert.equal(sequence, entry.sequence);
      assert.ok(writer > 0n);
      if (!this.#isFlipped) {
        const isNew = batch.receivedAtNanos > this.#highestWatermark;
        assert.ok(entry.state === 'gone' || isNew, 'a watermark passed an unreleased batch');
        assert.notEqual(entry.state === 'gone', true, `batch ${sequence} was released before`);
      }
      if (entry.state === 'gone') assert.ok(suspect, 'a batch that may be stored must be suspect');
      this.#checkSkipped(this.#lastHanded, sequence);
      entry.sequence = sequence;
      if (entry.state === 'asked') entry.state = 'acknowledged';
      if (sequence > this.#highestSequence) this.#highestSequence = sequence;
      this.#lastHanded = sequence;
      this.#handedOut.push(batch);
    }
  }

  /** No acknowledged batch may be skipped between two that were taken. */
  #checkSkipped(after: bigint, before: bigint): void {
    for (const entry of this.#entries.values()) {
      const { sequence, state } = entry;
      if (state !== 'acknowledged' || sequence === undefined) continue;
      if (sequence > after && sequence < before) this.#mayBeLost(entry);
    }
  }

  #mayBeLost(entry: Entry): void {
    const sequence = entry.sequence ?? 0n;
    const isReported = this.#heard.reported.damage.some(
      (damage) => damage.fromSequence <= sequence && sequence <= damage.toSequence,
    );
    assert.ok(this.#isFlipped, `batch ${sequence} is lost`);
    assert.ok(
      isReported || this.#isQuarantined(sequence),
      `batch ${sequence} is lost and no report says so`,
    );
    entry.state = 'gone';
  }

  /** Bytes cut off at a start are quarantined first, even if that start is interrupted. */
  #isQuarantined(sequence: bigint): boolean {
    // `paths` works on a stopped machine too.
    return this.#fs.paths().some((path) => {
      const firstOfSegment = /\/(\d+)-\d+\.damaged$/.exec(path)?.[1];
      return firstOfSegment !== undefined && BigInt(firstOfSegment) <= sequence;
    });
  }

  async #release(queue: DiskQueue, sequence: bigint): Promise<void> {
    const entries = [...this.#entries.values()].filter(
      (entry) => entry.sequence !== undefined && entry.sequence <= sequence,
    );
    const before = entries.map((entry) => entry.state);
    await queue.release(sequence).catch((error: unknown) => {
      // The checkpoint may or may not be durable: both outcomes are allowed.
      for (const [index, entry] of entries.entries()) {
        if (before[index] === 'acknowledged') entry.state = 'asked';
      }
      throw error;
    });
    for (const entry of entries) entry.state = 'gone';
    this.#handedOut = this.#handedOut.filter((batch) => batch.id.sequence > sequence);
    this.#checkWatermark(queue);
  }

  #checkWatermark(queue: DiskQueue): void {
    const watermark = queue.watermarkNanos();
    if (watermark > this.#highestWatermark) this.#highestWatermark = watermark;
  }

  #checkRecall(queue: DiskQueue, entry: Entry): void {
    const { record, state } = entry;
    if (record === undefined) return;
    const remembered = queue.recall(record.key);
    if (remembered === undefined) {
      const isOpen = state === 'asked' || state === 'refused';
      assert.ok(isOpen || this.#isFlipped, 'an acknowledged key was not recalled');
      return;
    }
    assert.notEqual(state, 'refused', 'the key of a refused batch was recalled');
    assert.deepEqual(Buffer.from(remembered.answer), Buffer.from(record.answer));
    assert.deepEqual(Buffer.from(remembered.bodyDigest), Buffer.from(record.bodyDigest));
  }

  #now(): number {
    this.#nowMs += this.random.chance(0.05) ? -50 : this.random.below(3);
    this.#latestMs = Math.max(this.#nowMs, this.#latestMs);
    return this.#nowMs;
  }
}
