/**
 * A short fuzz run over half of the decoders, fixtures of longer runs, and mutants that must be
 * caught. Longer: `npm run fuzz`.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { configSchema } from '../../src/config/schema.ts';
import { createJsonLogs } from '../../src/protocols/json-logs/json-logs.ts';
import { breaks, breakSubject } from './broken-decoders.ts';
import { readFixtures, writeFixture } from './fixture.ts';
import { fuzz, replay } from './fuzz-run.ts';
import { batchSubjects, countJsonEvents, subjects } from './subjects.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const cases = 150;

/** A run takes every other decoder, for its time; `npm run fuzz` takes all. */
const chosen = subjects.filter((_, at) => at % 2 === seed % 2);

suite('decoders keep their rules for any input', () => {
  for (const [at, subject] of chosen.entries()) {
    // Case 0 has inputs of several slices, which take most of the time: a quarter have it.
    const from = at % 4 === (seed >> 1) % 4 ? 0 : 1;
    test(subject.name, async (t) => {
      t.diagnostic(`replay with FUZZ_SEED=${seed}`);
      const { taken, refused, finding } = await fuzz(subject, { seed, from, cases });
      if (finding !== undefined) {
        const file = writeFixture(join(tmpdir(), 'weir-fuzz'), finding);
        assert.fail(`case ${finding.number}, see ${file}: ${finding.fault}`);
      }
      // Otherwise it tests only the first checks, or nothing damaged.
      assert.ok(taken > cases / 10, `only ${taken} of ${cases} were accepted`);
      if (subject.takesAnything === true) return;
      // 23 on average where damages are accepted most often.
      assert.ok(refused > cases / 25, `only ${refused} of ${cases} were refused`);
    });
  }
});

suite('earlier findings stay fixed', () => {
  for (const { file, subject: name, inputs } of readFixtures()) {
    test(file, async () => {
      const subject = subjects.find((one) => one.name === name);
      assert.ok(subject, `${file} names no subject: ${name}`);
      await replay(
        subject,
        inputs.map((input) => Buffer.from(input, 'base64')),
      );
    });
  }
});

suite('a broken decoder is caught', () => {
  const jsonLogs = batchSubjects.find(({ name }) => name === 'json_logs')!;
  const wire = {
    protocol: createJsonLogs(configSchema.parse({})),
    format: { mediaType: 'application/json', parameters: new Map(), coding: 'identity' as const },
    countEvents: countJsonEvents,
  };
  for (const [name, how] of Object.entries(breaks)) {
    test(`one that ${name}`, async () => {
      const broken = breakSubject(jsonLogs, wire, how);
      const { finding } = await fuzz(broken, { seed, from: 1, cases: 2000 });
      assert.ok(finding !== undefined, 'no finding');
      await assert.rejects(replay(broken, finding.inputs), 'the minimised input must fail again');
    });
  }
});

test('the command prints its seed and its counts', async () => {
  const directory = temporaryFolder();
  const script = fileURLToPath(new URL('./fuzz.ts', import.meta.url));
  const args = ['--seconds', '0.1', '--seed', '7', '--protocol', 'selector', '--into', directory];
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 2] });
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0);
  assert.match(printed, /seed 7: npm run fuzz -- --seconds 0.1 --seed 7 --protocol selector/);
  assert.match(printed, /selector/);
});
