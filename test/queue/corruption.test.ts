/** Damaged files: the queue opens, keeps all other batches, and reports the lost ones. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { DiskQueue } from '../../src/queue/disk/disk-queue.ts';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { Random } from './random.ts';
import { recordTelemetry, type Reported } from './recording-telemetry.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const directory = '/queue';
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const batches = 12;

/** A queue with `batches` batches in several segments, the last one unfinished. */
async function fill(segmentBytes: number): Promise<SimulatedFileSystem> {
  const fs = new SimulatedFileSystem(new Random(1));
  const queue = await openDiskQueue(
    { directory, segmentBytes, minFreeDiskBytes: 0, fileSystem: fs },
    recordTelemetry().telemetry,
  );
  for (let batch = 1; batch <= batches; batch++) {
    const payload = Buffer.from(`${batch}:${'x'.repeat(700)}`);
    await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
  }
  return fs.afterKill();
}

function open(fs: SimulatedFileSystem, { telemetry } = recordTelemetry()): Promise<DiskQueue> {
  return openDiskQueue({ directory, minFreeDiskBytes: 0, fileSystem: fs }, telemetry);
}

/** Opens the queue and takes everything. @returns the numbers of the batches */
async function read(fs: SimulatedFileSystem): Promise<{ numbers: number[]; reported: Reported }> {
  const { reported, telemetry } = recordTelemetry();
  const queue = await open(fs, { reported, telemetry, passedOver: [] });
  const numbers: number[] = [];
  while (queue.status().bytes > 0) {
    const taken = await Promise.race([
      queue.take({ maxRows: 5, maxBytes: 1e6 }),
      new Promise<undefined>((resolve) =>
        setImmediate(() => setImmediate(() => resolve(undefined))),
      ),
    ]);
    if (taken === undefined) break;
    for (const batch of taken.batches) {
      numbers.push(Number(Buffer.from(batch.payload).toString().split(':')[0]));
    }
    await queue.release(taken.batches.at(-1)?.id.sequence ?? 0n);
  }
  await queue.close();
  return { numbers, reported };
}

/** All batches are taken in order, except those within a reported range. */
function assertAllOrReported({
  numbers,
  reported,
}: {
  numbers: number[];
  reported: Reported;
}): void {
  const expected = Array.from({ length: batches }, (_, index) => index + 1).filter(
    (number) => numbers.includes(number) || !isReported(reported, number),
  );
  assert.deepEqual(numbers, expected);
}

function isReported(reported: Reported, sequence: number): boolean {
  return reported.damage.some(
    ({ fromSequence, toSequence }) => fromSequence <= sequence && sequence <= toSequence,
  );
}

/** Each missing batch is counted as lost, none as a torn end. */
function assertCounted({ numbers, reported }: { numbers: number[]; reported: Reported }): void {
  const counted = reported.damage.reduce((sum, each) => sum + (each.batches ?? Number.NaN), 0);
  assert.equal(counted, batches - numbers.length, JSON.stringify(numbers));
  const lossless = reported.damage.filter((damage) => damage.batches === 0);
  assert.ok(reported.damage.every((damage) => damage.kind !== 'torn' || lossless.includes(damage)));
  assertAllOrReported({ numbers, reported });
}

function segmentsOf(fs: SimulatedFileSystem): string[] {
  return fs
    .paths()
    .filter((path) => path.endsWith('.segment'))
    .sort();
}

function last<T>(list: readonly T[]): T {
  const found = list.at(-1);
  assert.ok(found !== undefined);
  return found;
}

test('recovers an undamaged queue', async () => {
  const { numbers, reported } = await read(await fill(2000));
  assert.equal(numbers.length, batches);
  assert.deepEqual(reported, { damage: [], foreign: [], checkpoints: [], marks: [] });
});

test('tolerates a last record cut at any byte', async () => {
  const whole = await fill(1e6);
  const path = last(segmentsOf(whole));
  const content = whole.contentOf(path);
  const lastRecord = Buffer.from(content).lastIndexOf('WFR1');
  for (let cut = lastRecord + 1; cut < content.length; cut++) {
    const fs = whole.afterKill();
    fs.overwrite(path, content.slice(0, cut));
    const result = await read(fs);
    assertAllOrReported(result);
    assert.equal(result.numbers.length, batches - 1, `cut at ${cut}`);
  }
});

test('tolerates any flipped bit in the first 4 KiB', async () => {
  const whole = await fill(1e6);
  const path = last(segmentsOf(whole));
  const content = whole.contentOf(path);
  for (let at = 0; at < 4096; at++) {
    const fs = whole.afterKill();
    const flipped = Uint8Array.from(content);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    fs.overwrite(path, flipped);
    const result = await read(fs);
    assertAllOrReported(result);
    assert.ok(result.numbers.length >= batches - 1, `flip at ${at} costs one batch at most`);
  }
});

const faults: Record<string, (content: Uint8Array) => Uint8Array | undefined> = {
  removed: () => undefined,
  emptied: () => new Uint8Array(0),
  'cut to its header': (content) => content.slice(0, 64),
  'cut in half': (content) => content.slice(0, content.length / 2),
  // Where its last batch begins; a seal is shorter.
  'cut behind a batch': (content) =>
    content.slice(0, Buffer.from(content).lastIndexOf('WFR1', content.length - 200)),
  'flipped in its last batch': (content) => {
    const at = Buffer.from(content).lastIndexOf('xxxx');
    return content.with(at, (content[at] ?? 0) ^ 1);
  },
};

for (const [fault, apply] of Object.entries(faults)) {
  for (const which of ['first', 'second', 'last'] as const) {
    test(`counts each lost batch of the ${which} segment, ${fault}`, async () => {
      const fs = await fill(2000);
      const segments = segmentsOf(fs);
      assert.ok(segments.length >= 4);
      const path = segments.at({ first: 0, second: 1, last: -1 }[which]);
      assert.ok(path !== undefined);
      const content = apply(fs.contentOf(path));
      if (content === undefined) fs.remove(path);
      else fs.overwrite(path, content);
      const result = await read(fs);
      assert.ok(result.numbers.length < batches);
      assertCounted(result);
      const again = await read(fs.afterKill());
      assert.deepEqual(again.reported.damage, [], 'a loss is reported once');
    });
  }
}

test('does not count released batches of a missing segment as lost', async () => {
  const fs = await fill(1e6);
  const queue = await open(fs);
  const taken = await queue.take({ maxRows: 5, maxBytes: 1e6 });
  await queue.release(taken?.batches.at(-1)?.id.sequence ?? 0n);
  const killed = fs.afterKill();
  killed.remove(last(segmentsOf(killed)));
  const { numbers, reported } = await read(killed);
  assert.deepEqual(numbers, []);
  assert.deepEqual(
    reported.damage.map((damage) => damage.batches),
    [batches - 5],
  );
});

test('treats an end torn by a kill as unacknowledged', async () => {
  const fs = await fill(1e6);
  const path = last(segmentsOf(fs));
  const content = fs.contentOf(path);
  const frame = content.slice(Buffer.from(content).lastIndexOf('WFR1'), -1);
  fs.overwrite(path, Buffer.concat([content, frame]));
  const { numbers, reported } = await read(fs);
  assert.equal(numbers.length, batches);
  assert.deepEqual(
    reported.damage.map((damage) => [damage.kind, damage.batches]),
    [['torn', 0]],
  );
});

for (const [state, content] of Object.entries({
  absent: undefined,
  damaged: Buffer.alloc(2048, 'x'),
})) {
  test(`reports a synced mark that is ${state} and loses nothing`, async () => {
    const fs = await fill(2000);
    if (content === undefined) fs.remove('/queue/synced');
    else fs.overwrite('/queue/synced', content);
    const { numbers, reported } = await read(fs);
    assert.equal(numbers.length, batches);
    assert.deepEqual(reported, { damage: [], foreign: [], checkpoints: [], marks: [state] });
  });
}

test('assigns no id twice without checkpoint and mark', async () => {
  const fs = await fill(1e6);
  const queue = await open(fs);
  const taken = await queue.take({ maxRows: 100, maxBytes: 1e6 });
  const known = taken?.batches.at(-1)?.id;
  assert.ok(known !== undefined);
  await queue.release(known.sequence);
  await queue.close();
  fs.remove('/queue/checkpoint');
  fs.remove('/queue/synced');
  const next = await open(fs);
  await next.append({ layout: 'logs/1', rows: 1, payload: Buffer.from('new') }, owner);
  const [batch] = (await next.take({ maxRows: 1, maxBytes: 1e6 }))?.batches ?? [];
  assert.notEqual(batch?.id.writer, known.writer);
});

test('loses only the batches on a page of zeros', async () => {
  const whole = await fill(1e6);
  const path = last(segmentsOf(whole));
  const zeroed = Uint8Array.from(whole.contentOf(path)).fill(0, 1500, 1500 + 4096);
  whole.overwrite(path, zeroed);
  const result = await read(whole);
  assertAllOrReported(result);
  assert.equal(last(result.numbers), batches);
  assert.ok(result.numbers.length >= batches - 7);
});

test('reports a missing segment with its exact range', async () => {
  const fs = await fill(2000);
  const [, second, third] = segmentsOf(fs);
  assert.ok(second !== undefined && third !== undefined);
  fs.remove(second);
  const result = await read(fs);
  const [missing] = result.reported.damage;
  assert.equal(missing?.kind, 'missing');
  assert.ok(result.numbers.includes(Number(missing?.fromSequence) - 1));
  assert.equal(BigInt(Number(/(\d+)\.segment/.exec(third)?.[1])), (missing?.toSequence ?? 0n) + 1n);
  assertAllOrReported(result);
});

test('keeps and reports unknown files', async () => {
  const fs = await fill(2000);
  const [first, second] = segmentsOf(fs);
  assert.ok(first !== undefined && second !== undefined);
  const copy = '/queue/segments/00000000000000000999.segment';
  fs.overwrite(copy, fs.contentOf(second));
  fs.overwrite('/queue/segments/notes.txt', Buffer.from('mine'));
  fs.overwrite('/queue/segments/leftover.segment.tmp', Buffer.from('half'));
  const { numbers, reported } = await read(fs);
  assert.equal(numbers.length, batches);
  assert.deepEqual(reported.foreign, ['00000000000000000999.segment', 'notes.txt']);
  assert.ok(fs.paths().includes(copy));
});

test('ignores a segment of another directory', async () => {
  const fs = await fill(2000);
  const other = await fill(2000);
  const [first] = segmentsOf(other);
  assert.ok(first !== undefined);
  const foreign = Uint8Array.from(other.contentOf(first));
  fs.overwrite(first, foreign);
  const { reported, numbers } = await read(fs);
  assert.deepEqual(reported.foreign, ['00000000000000000001.segment']);
  assert.ok(numbers.length < batches);
});

for (const [state, content] of Object.entries({
  damaged: () => Buffer.from('nonsense'),
  'damaged by a flipped bit': (bytes: Uint8Array) => bytes.with(20, (bytes[20] ?? 0) ^ 1),
})) {
  test(`drains everything again if the checkpoint is ${state}`, async () => {
    const fs = await fill(2000);
    fs.overwrite('/queue/checkpoint', content(fs.contentOf('/queue/checkpoint')));
    const { numbers, reported } = await read(fs);
    assert.equal(numbers.length, batches);
    assert.deepEqual(reported.checkpoints, ['damaged']);
  });
}

/** Appends, takes and releases batches. @returns the id of the last one */
async function pass(queue: DiskQueue, count: number): Promise<string> {
  let id = '';
  for (let batch = 1; batch <= count; batch++) {
    const payload = Buffer.from(`${batch}:${'x'.repeat(700)}`);
    const { sequence } = await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
    await queue.take({ maxRows: 1, maxBytes: 1e6 });
    await queue.release(sequence);
    id = `${queue.writer} ${sequence}`;
  }
  return id;
}

suite('a queue without a backlog', () => {
  const damage = (fs: SimulatedFileSystem, ...names: string[]) => {
    for (const name of names) fs.overwrite(`/queue/${name}`, Buffer.alloc(64));
  };
  const openSmall = (fs: SimulatedFileSystem) =>
    openDiskQueue(
      { directory, segmentBytes: 2000, minFreeDiskBytes: 0, fileSystem: fs },
      recordTelemetry().telemetry,
    );
  const harmless = { damage: [], foreign: [], checkpoints: ['damaged'], marks: [] };

  test('is not reported lost with its checkpoint, while it runs', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    await pass(await openSmall(fs), 1);
    const killed = fs.afterKill();
    assert.deepEqual(segmentsOf(killed), []);
    damage(killed, 'checkpoint');
    assert.deepEqual((await read(killed)).reported, harmless);
  });

  test('is not reported lost with its checkpoint, after a start', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    const queue = await open(fs);
    await pass(queue, 12);
    await queue.close();
    await (await open(fs)).close();
    assert.deepEqual(segmentsOf(fs), []);
    damage(fs, 'checkpoint');
    assert.deepEqual((await read(fs)).reported, harmless);
  });

  test('assigns no id twice after two damaged checkpoints', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    const ids = new Set<string>();
    for (const damaged of [false, false, true, true, true]) {
      if (damaged) {
        damage(fs, 'checkpoint');
        await (await openSmall(fs)).close();
        damage(fs, 'checkpoint');
      }
      const queue = await openSmall(fs);
      for (let batch = 0; batch < 5; batch++) {
        const id = await pass(queue, 1);
        assert.ok(!ids.has(id), id);
        ids.add(id);
      }
      await queue.close();
    }
  });

  test('assigns no id twice after a power cut that brought back an older segment', async () => {
    let fs = new SimulatedFileSystem(new Random(1));
    const payload = () => Buffer.from('1:older');
    await (await openSmall(fs)).append({ layout: 'logs/1', rows: 1, payload: payload() }, owner);
    fs = fs.afterKill();
    const queue = await openSmall(fs);
    const [older] = segmentsOf(fs);
    const [segment, mark] = [older!, '/queue/synced'].map((path) => fs.contentOf(path).slice());
    const { sequence } = await queue.append(
      { layout: 'logs/1', rows: 1, payload: payload() },
      owner,
    );
    const { writer } = queue;
    await queue.release(sequence);
    fs = fs.afterKill();
    fs.overwrite(older!, segment!);
    fs.overwrite('/queue/synced', mark!);
    damage(fs, 'checkpoint');
    const next = await openSmall(fs);
    const appended = await next.append({ layout: 'logs/1', rows: 1, payload: payload() }, owner);
    assert.notDeepEqual([next.writer, appended.sequence], [writer, sequence]);
  });

  test('keeps its writer without its identity', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    const queue = await openSmall(fs);
    const [writer, sequence] = (await pass(queue, 3)).split(' ');
    const killed = fs.afterKill();
    damage(killed, 'identity');
    const [next, later] = (await pass(await openSmall(killed), 1)).split(' ');
    assert.equal(next, writer);
    assert.ok(BigInt(later!) > BigInt(sequence!));
  });

  test('keeps its quarantine without all that numbers it, and reports the damage', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    const quarantineOne = async (queue: DiskQueue) => {
      const payload = Buffer.from('refused');
      await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
      const taken = await queue.take({ maxRows: 1, maxBytes: 1e6 });
      const batch = taken!.batches[0]!;
      await queue.quarantine(batch, 'because');
      await queue.release(batch.id.sequence);
    };
    // A start passes as many sequences as may have been pending.
    await (await openSmall(fs)).close();
    await quarantineOne(await openSmall(fs));
    const killed = fs.afterKill();
    damage(killed, 'identity', 'checkpoint', 'synced');
    const { reported, telemetry } = recordTelemetry();
    const queue = await openDiskQueue(
      { directory, minFreeDiskBytes: 0, fileSystem: killed },
      telemetry,
    );
    assert.deepEqual(reported.checkpoints, ['damaged']);
    await quarantineOne(queue);
    assert.equal(queue.status().quarantinedBatches, 2);
  });

  test('passes the sequence of a batch that is to be retried', async () => {
    const fs = new SimulatedFileSystem(new Random(1));
    const name = '/queue/quarantine/00000000000000070000';
    await (await openSmall(fs)).close();
    fs.overwrite(`${name}.retry`, Buffer.from('a frame'));
    const [, sequence] = (await pass(await openSmall(fs), 1)).split(' ');
    assert.ok(BigInt(sequence!) > 70_000n);
  });
});

test('without its identity it keeps batches of earlier writers', async () => {
  let fs = await fill(2000);
  // The log gets a new writer.
  fs.overwrite('/queue/checkpoint', Buffer.alloc(64));
  const queue = await open(fs);
  const payload = Buffer.from(`${batches + 1}:of the new writer`);
  await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
  fs = fs.afterKill();
  fs.overwrite('/queue/identity', Buffer.alloc(64));
  const { numbers, reported } = await read(fs);
  assert.equal(numbers.length, batches + 1);
  assert.deepEqual(reported.foreign, []);
});

test('reads segments of an earlier writer whose headers are damaged', async () => {
  for (const others of [[], ['identity']]) {
    const fs = await fill(2000);
    // The log gets a new writer.
    for (const name of ['checkpoint', ...others]) fs.overwrite(`/queue/${name}`, Buffer.alloc(64));
    for (const path of segmentsOf(fs)) {
      fs.overwrite(path, Uint8Array.from(fs.contentOf(path)).fill(0, 0, 64));
    }
    const { numbers, reported } = await read(fs);
    assert.equal(numbers.length, batches);
    assert.deepEqual([reported.damage, reported.foreign], [[], []]);
  }
});

test('recovers from segments alone without checkpoint and identity', async () => {
  const fs = await fill(2000);
  fs.remove('/queue/checkpoint');
  fs.remove('/queue/identity');
  const { numbers, reported } = await read(fs);
  assert.equal(numbers.length, batches);
  assert.deepEqual(reported.foreign, []);
});

test('refuses a directory of a newer version and leaves it unchanged', async () => {
  const { identityVersion, writeIdentity } = await import('../../src/queue/disk/records.ts');
  const fs = await fill(2000);
  writeIdentity(fs, '/queue/identity', {
    version: identityVersion + 1,
    writer: 1n,
    earlier: [],
  });
  const before = segmentsOf(fs).map((path) => fs.contentOf(path));
  await assert.rejects(read(fs), /has version 3, this program knows up to 2/);
  assert.deepEqual(
    segmentsOf(fs).map((path) => fs.contentOf(path)),
    before,
  );
});
