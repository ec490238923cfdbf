/** Every step, on a log in memory and on a row, with the same result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLogRows } from '../protocols/read-log-rows.ts';
import { AppError } from '../../src/model/errors.ts';
import type { TransformStep } from '../../src/model/transform.ts';
import { createJsonLogsDecoder } from '../../src/protocols/json-logs/decode.ts';
import { previewTransform, type SampleFields } from '../../src/transform/sample-event.ts';
import { transformSchema } from '../../src/transform/spec.ts';
import { createTransformer } from '../../src/transform/transform-batch.ts';

const transformBatch = createTransformer();
const limits = { maxEvents: 100_000, maxDepth: 64, maxRejections: 10 };

/** The fields of each stored row. */
async function store(
  steps: readonly TransformStep[],
  events: readonly object[],
  cover?: (bytes: number) => void,
) {
  const batch = await createJsonLogsDecoder()(Buffer.from(JSON.stringify(events)), limits);
  const after = await transformBatch(batch, steps, cover);
  const rows = readLogRows(after.payload);
  assert.equal(rows.length, after.rows);
  const fields = rows.map((row) =>
    withoutEmpty({
      message: row.body as string,
      severity: row.severityText as string,
      service_name: row.serviceName as string,
      host: row.host as string,
      trace_id: row.traceId as string,
      ...Object.fromEntries(row.logAttributes as Map<string, string>),
    }),
  );
  return { fields, warnings: after.warnings ?? new Map(), rows };
}

function withoutEmpty(fields: SampleFields): SampleFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const cases: readonly {
  readonly name: string;
  readonly steps: readonly unknown[];
  readonly event: SampleFields;
  /** Undefined = dropped. */
  readonly after: SampleFields | undefined;
  readonly changes?: readonly string[];
}[] = [
  {
    name: 'parses JSON in the message',
    steps: [{ type: 'parse', format: 'json' }],
    event: {
      message:
        '{"level":"warn","msg":"slow","took":12,"user":{"id":7},"none":null,' +
        `"trace_id":"${traceId}"}`,
      severity: 'INFO',
    },
    after: { message: 'slow', severity: 'WARN', took: '12', user: '{"id":7}', trace_id: traceId },
  },
  {
    name: 'parses logfmt, with a prefix',
    steps: [{ type: 'parse', format: 'logfmt', prefix: 'app.' }],
    event: { message: 'level=info msg="all well" n=3' },
    after: {
      message: 'level=info msg="all well" n=3',
      'app.level': 'info',
      'app.msg': 'all well',
      'app.n': '3',
    },
  },
  {
    name: 'leaves a message of another format alone',
    steps: [{ type: 'parse', format: 'json' }],
    event: { message: 'plain {text}' },
    after: { message: 'plain {text}' },
    changes: ['message not parsed'],
  },
  {
    name: 'does not parse a message of over 256 KiB',
    steps: [{ type: 'parse', format: 'json' }],
    event: { message: `{"a":1}${' '.repeat(256 * 1024)}` },
    after: { message: `{"a":1}${' '.repeat(256 * 1024)}` },
    changes: ['message not parsed'],
  },
  {
    name: 'takes fields by a pattern',
    steps: [{ type: 'extract', pattern: 'user=(?P<user>\\w+) (?P<severity>[a-z]+)' }],
    event: { message: 'user=ann error 5' },
    after: { message: 'user=ann error 5', user: 'ann', severity: 'ERROR' },
  },
  {
    name: 'renames and removes fields',
    steps: [
      { type: 'rename', from: 'app', to: 'service_name' },
      { type: 'rename', from: 'host', to: 'node' },
      { type: 'remove', fields: ['secret', 'absent'] },
    ],
    event: { message: 'm', app: 'web', host: 'h1', secret: 's' },
    after: { message: 'm', service_name: 'web', node: 'h1' },
  },
  {
    name: 'drops by value, without case',
    steps: [{ type: 'drop', where: { field: 'severity', is: 'debug' } }],
    event: { message: 'm', severity: 'DEBUG' },
    after: undefined,
    changes: ['dropped by the transform'],
  },
  {
    name: 'keeps what a pattern does not match',
    steps: [{ type: 'drop', where: { field: 'path', matches: '^/health' } }],
    event: { message: 'm', path: '/api/health' },
    after: { message: 'm', path: '/api/health' },
  },
  {
    name: 'redacts message and labels',
    steps: [{ type: 'redact', kinds: ['card', 'email'], pattern: 'id-\\d+', replacement: '***' }],
    event: { message: '4111111111111111 id-77', contact: 'ann@example.com', ok: 'yes' },
    after: { message: '*** ***', contact: '***', ok: 'yes' },
    changes: ['redacted'],
  },
  {
    name: 'samples by a field',
    steps: [{ type: 'sample', share: 0, by: 'trace_id', where: { field: 'severity', is: 'INFO' } }],
    event: { message: 'm', severity: 'INFO', trace_id: traceId },
    after: undefined,
    changes: ['left out by sampling'],
  },
];

for (const { name, steps, event, after, changes = [] } of cases) {
  test(name, async () => {
    const parsed = transformSchema.parse(steps);
    const [previewed] = await previewTransform(parsed, [event]);
    const dropped = previewed?.after === undefined;
    assert.deepEqual(dropped ? undefined : withoutEmpty(previewed.after), after);
    assert.deepEqual(previewed?.changes, changes);
    const stored = await store(parsed, [event, { message: 'a plain message' }]);
    assert.deepEqual(stored.fields[0], after ?? withoutEmpty({ message: 'a plain message' }));
    for (const change of changes) assert.ok(stored.warnings.has(change));
  });
}

test('sets the number of a changed severity and keeps time and other columns', async () => {
  const steps = transformSchema.parse([{ type: 'rename', from: 'lvl', to: 'severity' }]);
  const event = {
    message: 'm',
    lvl: 'error',
    timestamp: '2026-01-02T03:04:05Z',
    span_id: 'a'.repeat(16),
  };
  const { rows } = await store(steps, [event]);
  assert.equal(rows[0]?.severityNumber, 17);
  assert.equal(rows[0]?.spanId, 'a'.repeat(16));
  assert.equal(rows[0]?.timestamp, BigInt(Date.parse('2026-01-02T03:04:05Z')) * 1_000_000n);
});

test('keeps the share of a sample, and all logs of a trace or none', async () => {
  const events = Array.from({ length: 20_000 }, (_, index) => ({
    message: 'm',
    request: `r${index % 10_000}`,
  }));
  for (const by of [undefined, 'request']) {
    const steps = transformSchema.parse([{ type: 'sample', share: 0.25, ...(by && { by }) }]);
    const { fields, warnings } = await store(steps, events);
    assert.ok(Math.abs(fields.length - 5000) < 400, `${fields.length} kept`);
    assert.equal(warnings.get('left out by sampling'), 20_000 - fields.length);
    if (by === undefined) continue;
    const kept = Map.groupBy(fields, (one) => one['request'] ?? '');
    assert.ok([...kept.values()].every((logs) => logs.length === 2));
  }
});

test('bounds the labels that a message adds', async () => {
  const message = JSON.stringify(
    Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])),
  );
  const { rows, warnings } = await store(
    transformSchema.parse([{ type: 'parse', format: 'json' }]),
    [{ message }],
  );
  assert.equal((rows[0]?.logAttributes as Map<string, string> | undefined)?.size, 256);
  assert.equal(warnings.get('fields beyond the limit left out'), 5000 - 256);
});

const copies = 40;
const opened = Array.from({ length: copies }, (_, n) => `(?P<g${n}>`).join('');
/** Copies the message into 40 labels. */
const copying = { type: 'extract', pattern: `${opened}.*${')'.repeat(copies)}` };

test('a redaction that would add more than 64 KiB to a log replaces whole values', async () => {
  const steps = transformSchema.parse([
    { type: 'redact', pattern: 'x', replacement: 'y'.repeat(100) },
  ]);
  const labels = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`k${n}`, 'x'.repeat(60)]),
  );
  const { fields } = await store(steps, [{ message: 'x'.repeat(10_000), labels }]);
  assert.equal(fields[0]!['message'], 'y'.repeat(100));
  assert.equal(fields[0]!['k0']!.length, 6000);
  assert.equal(fields[0]!['k19'], 'y'.repeat(100));
});

test('bounds the results of a preview', async () => {
  const steps = transformSchema.parse([copying]);
  const samples = Array.from({ length: 20 }, () => ({ message: 'x'.repeat(16_000) }));
  await assert.rejects(previewTransform(steps, samples), /cannot preview .* send fewer samples/);
});

test('bounds the rows of a batch, and asks for their memory before', async () => {
  const steps = transformSchema.parse([copying]);
  const events = Array.from({ length: 20 }, () => ({ message: 'x'.repeat(60_000) }));
  const asked: number[] = [];
  await assert.rejects(
    store(steps, events, (bytes) => asked.push(bytes)),
    (error) => {
      assert.ok(error instanceof AppError && error.code === 'too_large');
      assert.match(error.message, /the transform of the receiver .* 33554432 bytes; remove a step/);
      return true;
    },
  );
  assert.ok(asked.at(-1)! > 10_000_000, `asked for ${asked.join()}`);
  const refusal = new AppError('unavailable', 'cannot accept the request now');
  const refuse = () => {
    throw refusal;
  };
  await assert.rejects(store(steps, events, refuse), refusal);
  const { fields } = await store(steps, events.slice(0, 2));
  assert.equal(Object.keys(fields[0]!).length, 1 + copies);
});

const invalid: Readonly<Record<string, [steps: unknown, message: RegExp]>> = {
  'a pattern that RE2 does not know': [
    [{ type: 'drop', where: { field: 'message', matches: '(?=x)' } }],
    /is not an RE2 pattern/,
  ],
  'a pattern that repeats too much': [
    [{ type: 'redact', pattern: '(?:.{1000}){1}.{1000}' }],
    /compiles to 2\d{3} instructions of at most 500/,
  ],
  'patterns that are too large together': [
    Array(3).fill({ type: 'redact', pattern: '\\w{1,200}' }),
    /together they compile to 1\d{3} instructions of at most 1000/,
  ],
  'an unknown step': [[{ type: 'eval' }], /parse.*sample/s],
  'a pattern without a named group': [[{ type: 'extract', pattern: 'x(y)' }], /no named group/],
  'a condition with both forms': [
    [{ type: 'drop', where: { field: 'a', is: 'b', matches: 'c' } }],
    /either is or matches/,
  ],
  'a redaction of nothing': [[{ type: 'redact' }], /give kinds/],
  'a share above 1': [[{ type: 'sample', share: 2 }], /share/],
  'more than 20 steps': [Array(21).fill({ type: 'remove', fields: ['a'] }), /20/],
};

for (const [name, [steps, message]] of Object.entries(invalid)) {
  test(`rejects ${name}`, () => {
    assert.match(JSON.stringify(transformSchema.safeParse(steps).error?.issues), message);
  });
}
