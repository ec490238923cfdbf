/** Severities and times of OTLP log records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LogSeverity, LogTime, type TimeVerdict } from './log-fields.ts';
import { TextSlot } from './log-record.ts';

test('severity text and number complete each other', () => {
  const severity = new LogSeverity();
  for (const [word, number, expectedWord, expectedNumber] of [
    ['', 0, '', 0],
    ['', 1, 'TRACE', 1],
    ['', 9, 'INFO', 9],
    ['', 10, 'INFO2', 10],
    ['', 24, 'FATAL4', 24],
    ['', 25, 'FATAL4', 24],
    ['', -1, '', 0],
    ['info', 0, 'INFO', 9],
    ['Error2', 0, 'ERROR2', 18],
    ['Critical', 0, 'CRITICAL', 18],
    ['Information', 10, 'INFORMATION', 10],
    ['custom', 0, 'CUSTOM', 0],
    ['custom', 13, 'CUSTOM', 13],
    ['warn', 2 ** 31 - 1, 'WARN', 24],
    ['warn', -(2 ** 31), 'WARN', 13],
    ['größe', 0, 'GRÖSSE', 0],
    ['x'.repeat(100), 5, 'X'.repeat(100), 5],
  ] as const) {
    const text = new TextSlot();
    const source = Buffer.from(`<${word}>`);
    text.set(source, 1, source.length - 1);
    severity.read(text, number);
    const { source: upper, start, end } = severity.text;
    assert.equal(upper.toString('utf8', start, end), expectedWord);
    assert.equal(severity.number, expectedNumber, `${word} ${number}`);
  }
});

const latest = 5_648_745_599_999_999_999n;

function read(value: bigint): { verdict: TimeVerdict; nanos: bigint } {
  const time = new LogTime();
  const verdict = time.read(Number(value >> 32n), Number(value & 0xffff_ffffn));
  return { verdict, nanos: BigInt(time.millis) * 1_000_000n + BigInt(time.nanos) };
}

test('keeps nanoseconds exactly', () => {
  const nanos = fc.bigInt({ min: 5_648_745_600_000_000n, max: latest });
  fc.assert(
    fc.property(nanos, (value) =>
      assert.deepEqual(read(value), { verdict: 'exact', nanos: value }),
    ),
  );
});

test('detects other units by magnitude', () => {
  for (const [sent, verdict, nanos] of [
    [1n, 'exact', 1n],
    [99_999_999n, 'exact', 99_999_999n],
    [100_000_000n, 'corrected', 100_000_000_000_000_000n],
    [1_544_712_660n, 'corrected', 1_544_712_660_000_000_000n],
    [5_648_745_599n, 'corrected', 5_648_745_599_000_000_000n],
    [5_648_745_600n, 'exact', 5_648_745_600n],
    [1_544_712_660_123n, 'corrected', 1_544_712_660_123_000_000n],
    [1_544_712_660_123_456n, 'corrected', 1_544_712_660_123_456_000n],
    [5_648_745_599_999_999n, 'corrected', 5_648_745_599_999_999_000n],
    [5_648_745_600_000_000n, 'exact', 5_648_745_600_000_000n],
    [latest, 'exact', latest],
  ] as const) {
    assert.deepEqual(read(sent), { verdict, nanos }, String(sent));
  }
});

test('treats zero as absent and times past 2149 as outside', () => {
  assert.equal(read(0n).verdict, 'absent');
  assert.equal(read(latest + 1n).verdict, 'outside');
  assert.equal(read(1n << 63n).verdict, 'outside');
  assert.equal(read((1n << 64n) - 1n).verdict, 'outside');
});
