/** The forms of time that docs/senders/json-logs.md promises, and near misses. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseTimeText } from './event-time-text.ts';

function parse(text: string): string | undefined {
  const padded = Buffer.from(`"${text}"`);
  const time = parseTimeText(padded, 1, padded.length - 1);
  return time && `${new Date(time.millis).toISOString().slice(0, -1)}${toDigits(time.nanos)}`;
}

const toDigits = (nanos: number) => String(nanos).padStart(6, '0');

/** Rows of the table of times: form, read as. */
function documentedForms(): [form: string, expected: string][] {
  const page = readFileSync(new URL('../../docs/senders/json-logs.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `([^`]+)` \|[^|\n]*\| `(\d{4}-\d\d-\d\dT[\d:.]+)Z` \|$/gm);
  return Array.from(rows, ([, form = '', expected = '']) => [form, expected]);
}

describe('parses each form that the manual lists', () => {
  const forms = documentedForms();
  test('the manual has a table of forms', () => assert.ok(forms.length >= 12, `${forms.length}`));
  for (const [form, expected] of forms) {
    test(form, () => {
      const [seconds = '', fraction = ''] = expected.split('.');
      assert.equal(parse(form), `${seconds}.${fraction.padEnd(9, '0')}`);
    });
  }
});

describe('parses variants', () => {
  const cases: [text: string, expected: string][] = [
    ['2026-11-22t10:00:00,123456789z', '2026-11-22T10:00:00.123456789'],
    ['2026-11-22 10:00:00.5 -03', '2026-11-22T13:00:00.500000000'],
    ['2026-11-22 10:00:00 UTC', '2026-11-22T10:00:00.000000000'],
    ['2026-11-22 10:00:00 ', '2026-11-22T10:00:00.000000000'],
    ['22/Nov/2026:10:00:00 -0130', '2026-11-22T11:30:00.000000000'],
    ['[22/Nov/2026:10:00:00 +0000]', '2026-11-22T10:00:00.000000000'],
    ['2 nov 2026 10:00:00 +0100', '2026-11-02T09:00:00.000000000'],
    ['0', '1970-01-01T00:00:00.000000000'],
  ];
  for (const [text, expected] of cases) test(text, () => assert.equal(parse(text), expected));
});

describe('rejects other text', () => {
  for (const text of [
    '',
    'yesterday',
    '-5',
    '1e9',
    '12ms',
    '2026-11-22',
    '2026-02-30 10:00:00',
    '2026-11-22T25:00:00',
    '2026-11-22T10:00:00.',
    '2026-11-22T10:00:00+1',
    '2026-11-22T10:00:00+2400',
    '2026-11-22T10:00:00 CEST',
    '22/Foo/2026:10:00:00 +0000',
    '31/Nov/2026:10:00:00 +0000',
    '22/Nov/2026:10:00:00',
    'Sun, 22 Nov 2026 10:00:00 CET',
    '1969-12-31 23:59:59',
    `2026-11-22T10:00:00.${'1'.repeat(60)}`,
  ]) {
    test(JSON.stringify(text), () => assert.equal(parse(text), undefined));
  }
});
