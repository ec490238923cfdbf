/** Events one after another: what is an event in each format, and which lines are rejected. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { countTurns } from '../../../test/harness/count-turns.ts';
import { readLogRows } from '../../../test/protocols/read-log-rows.ts';
import { configSchema } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import { blankSeriesView } from '../../../test/harness/blank-series-view.ts';
import { createJsonLogsDecoder } from './decode.ts';
import { createPiecesDecoder } from './decode-lines.ts';
import { openTolerantEvents } from './event-reader.ts';
import { createLines } from './lines.ts';
import { eachPiece, type LineFormat } from './text-lines.ts';

const decodePieces = createPiecesDecoder(openTolerantEvents);
const decodeDocument = createJsonLogsDecoder(openTolerantEvents);
const limits = { maxEvents: 20_000, maxDepth: 64, maxRejections: 3 };

async function decode(body: string | Buffer, format: LineFormat | 'json'): Promise<Batch> {
  if (format === 'json') return decodePieces(Buffer.from(body), limits);
  return decodePieces(Buffer.from(body), limits, (text) => eachPiece(text, format));
}

/** Decodes JSON as the route does. */
async function decodeSent(body: Buffer): Promise<Batch> {
  return createLines(configSchema.parse({})).decode(
    body,
    { mediaType: 'application/json', parameters: new Map(), coding: 'identity' },
    { limits, nowMs: 0, series: blankSeriesView },
  );
}

async function rowsOf(body: string | Buffer, format: LineFormat | 'json') {
  return readLogRows((await decode(body, format)).payload);
}

async function messagesOf(body: string | Buffer, format: LineFormat | 'json') {
  return (await rowsOf(body, format)).map((row) => row.body);
}

suite('JSON values', () => {
  const bodies: readonly (readonly [string, string])[] = [
    ['in lines', '{"message":"a"}\n{"message":"b"}\n'],
    ['without a last line break', '{"message":"a"}\r\n{"message":"b"}'],
    ['without any', '{"message":"a"}{"message":"b"}'],
    ['with empty lines', '\n\n{"message":"a"}\n \n{"message":"b"}\n\n'],
    ['over several lines', '{\n "message":\n "a"}\n{"message":"b"\n}'],
    ['after record separators', '\x1e{"message":"a"}\n\x1e{"message":"b"}\n'],
    ['after a byte order mark', '\ufeff{"message":"a"}\n{"message":"b"}'],
  ];
  for (const [name, body] of bodies) {
    test(name, async () => assert.deepEqual(await messagesOf(body, 'json'), ['a', 'b']));
  }

  test('are those of an array', async () => {
    const value = fc.record({ message: fc.string({ unit: 'grapheme' }), n: fc.integer() });
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1 }), async (events) => {
        const lines = await decode(events.map((event) => JSON.stringify(event)).join('\n'), 'json');
        const whole = await decodeDocument(Buffer.from(JSON.stringify(events)), limits);
        assert.deepEqual(lines, whole);
      }),
    );
  });

  test('that cannot be read are rejected by their line', async () => {
    const body = '{"message":"a"}\n\n{"message":\n7\n{"message":1}\n{"message":"b"} nonsense\nx\n';
    const batch = await decode(body, 'json');
    assert.equal(batch.rows, 3);
    assert.equal(batch.rejectedCount, 4);
    const [first, second, third] = batch.rejected;
    assert.match(first!.reason, /^not JSON: line 3: cannot parse JSON/);
    assert.deepEqual(second, { index: 2, reason: 'the event is not an object: line 4' });
    assert.match(third!.reason, /^not JSON: line 6: cannot parse JSON/);
    assert.deepEqual(
      [...batch.rejectedByReason],
      [
        ['not JSON', 3],
        ['the event is not an object', 1],
      ],
    );
  });

  test('in an array after a byte order mark, with a broken text', async () => {
    const batch = await decodeSent(Buffer.from('\xef\xbb\xbf [{"message":"\xff"}]', 'latin1'));
    assert.deepEqual(
      readLogRows(batch.payload).map((row) => row.body),
      ['\ufffd'],
    );
    assert.deepEqual([...batch.warnings!.values()], [1]);
  });

  const tolerated: readonly (readonly [string, string, object])[] = [
    ['{"a":1}', '{"a":1}', { a: '1' }],
    ['{"message":7,"b":2}', '7', { b: '2' }],
    ['{"message":"m","host":{"ip":"x"},"labels":3}', 'm', { 'host.ip': 'x', labels: '3' }],
    ['{"msg":"m","severity":{},"service_name":[]}', 'm', { severity: '{}', service_name: '[]' }],
    ['{"message":{"a":1}}', '{"a":1}', {}],
  ];
  for (const [body, message, labels] of tolerated) {
    for (const form of [body, `[${body}]`]) {
      test(`${form} is stored`, async () => {
        const [row] = readLogRows((await decodeSent(Buffer.from(form))).payload);
        assert.equal(row!.body, message);
        assert.deepEqual(Object.fromEntries(row!.logAttributes as Map<string, string>), labels);
      });
    }
  }

  test('none of which can be read are refused', async () => {
    await assert.rejects(decode('x\ny\n', 'json'), {
      code: 'malformed',
      message: /^cannot accept any of 2 events; the first: not JSON: line 1/,
    });
  });

  test('more than the limit are refused', async () => {
    const body = '{"message":""}\n'.repeat(20_001);
    await assert.rejects(decode(body, 'json'), { code: 'too_large', message: /jsonMaxEvents/ });
  });

  test('of an empty body are none', async () => {
    assert.equal((await decode('', 'json')).rows, 0);
    assert.equal((await decode(' \n', 'text')).rows, 0);
  });

  test('with an unreadable time are counted over pieces', async () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `time=x msg=${i} pad=${'p'.repeat(60)}`);
    const batch = await decode(lines.join('\n'), 'logfmt');
    assert.deepEqual([...batch.warnings!.values()], [10_000]);
  });
});

suite('bytes that are not UTF-8 are repaired, with a warning', () => {
  const bodies: readonly (readonly [LineFormat | 'json', string])[] = [
    ['text', 'caf\xe9\nb\n\xff\xfe\n'],
    ['logfmt', 'msg=caf\xe9\nmsg=b\nmsg=\xff\xfe'],
    ['json', '{"message":"caf\xe9"}\n{"message":"b"}\n{"message":"\xff\xfe"}'],
  ];
  for (const [format, body] of bodies) {
    test(format, async () => {
      const batch = await decode(Buffer.from(body, 'latin1'), format);
      assert.deepEqual(
        readLogRows(batch.payload).map((row) => row.body),
        ['caf\ufffd', 'b', '\ufffd\ufffd'],
      );
      assert.deepEqual([...batch.warnings!], [['text that is not valid UTF-8: repaired', 2]]);
    });
  }
});

suite('lines of text', () => {
  test('are messages', async () => {
    const body = 'one "quoted"\r\n\n  two\t{"a":1}\n\\';
    assert.deepEqual(await messagesOf(body, 'text'), ['one "quoted"', '  two\t{"a":1}', '\\']);
  });

  test('lose their byte order mark', async () => {
    assert.deepEqual(await messagesOf('\ufeffa\nb', 'text'), ['a', 'b']);
  });

  test('of a large body are decoded in slices, each once', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i} ${'x'.repeat(i % 90)}`);
    const decoded = decodePieces(Buffer.from(lines.join('\n')), limits, (text) =>
      eachPiece(text, 'text'),
    );
    assert.ok(decoded instanceof Promise);
    assert.deepEqual(
      readLogRows((await decoded).payload).map(({ body }) => body),
      lines,
    );
  });
});

suite('logfmt', () => {
  test('has the fields of loggers, and labels', async () => {
    const line =
      'time=2026-04-01T08:30:00Z level=warn msg="a \\"b\\"\\n" user.id=7 ok path="" q=a=b';
    const [row] = await rowsOf(line, 'logfmt');
    assert.equal(row!.body, 'a "b"\n');
    assert.equal(row!.severityText, 'WARN');
    assert.equal(row!.timestamp, 1_775_032_200_000_000_000n);
    const labels = Object.fromEntries(row!.logAttributes as Map<string, string>);
    assert.deepEqual(labels, { 'user.id': '7', ok: 'true', path: '', q: 'a=b' });
  });

  const messages = ['just words', 'a="unfinished', 'k="v"x', '=v', 'no pairs "here"'];
  for (const line of messages) {
    test(`${line} is a message`, async () => {
      assert.deepEqual(await messagesOf(line, 'logfmt'), [line]);
    });
  }

  test('a line of many megabytes is a message', async () => {
    const line = `a="${'x'.repeat(9_000_000)}"`;
    assert.deepEqual(await messagesOf(line, 'logfmt'), [line]);
  });

  test('without a message has its line as one', async () => {
    const [row] = await rowsOf('level=info a=1', 'logfmt');
    assert.equal(row!.body, 'level=info a=1');
    assert.equal(row!.severityText, 'INFO');
  });
});

test('other requests have a turn between lines that are not JSON', async () => {
  const body = `${'{"a":\n'.repeat(1000)}{"message":"last"}`;
  assert.ok((await countTurns(() => decode(body, 'json'))) > 10);
});

test('answers 202 to senders that ask for it', async () => {
  const { reply } = createLines(configSchema.parse({}));
  const batch = await decode('{"message":"a"}', 'json');
  const format = { mediaType: 'text/plain', parameters: new Map(), coding: 'identity' } as const;
  const statusOf = (query: string) =>
    reply(batch, format, { path: {}, query: new URLSearchParams(query) }).status;
  assert.deepEqual(['', 'status=202', 'status=500'].map(statusOf), [200, 202, 200]);
});
