/** How word and number of a severity complete each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextSlot } from './log-record.ts';
import { LogSeverity } from './log-severity.ts';

test('word and number complete each other', () => {
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
