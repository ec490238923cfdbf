/** How a journal is split into steps, and what is cut. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { EntrySteps, type StepLimits } from './entry-steps.ts';
import { dataField } from '../../../../test/harness/journal-field.ts';

suite('steps', () => {
  const limits: StepLimits = {
    bytes: 1000,
    entries: 2,
    elapsedMs: 10,
    fieldBytes: 5,
    entryBytes: 60,
  };

  function split(text: string, chunkBytes: number, options = limits, nowMs = () => 0): string[] {
    const steps = [''];
    let reader = new EntrySteps(options, nowMs);
    for (let at = 0; at < text.length; at += chunkBytes) {
      for (let rest = Buffer.from(text.slice(at, at + chunkBytes), 'latin1'); rest.length > 0; ) {
        const { kept, end } = reader.push(rest);
        steps.push(steps.pop()! + kept.toString('latin1'));
        rest = rest.subarray(end ?? rest.length);
        if (end === undefined) continue;
        reader = new EntrySteps(options, nowMs);
        steps.push('');
      }
    }
    return steps;
  }

  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['entries', '\nA=1\n\nA=2\n\n\nA=3\n\n', ['A=1\n\nA=2\n\n', 'A=3\n\n']],
    ['a long text', 'A=123456789\nB=1\n\n', ['A=12345\nB=1\n\n']],
    [
      'long data',
      `${dataField('A', '1234\n\n56789')}B=1\n\n`,
      [`${dataField('A', '1234\n')}B=1\n\n`],
    ],
    ['data that is as long', `${dataField('A', '12345')}\n`, [`${dataField('A', '12345')}\n`]],
    ['no data', `${dataField('A', '')}\nB=1\n`, [`${dataField('A', '')}\nB=1\n`]],
    [
      'more fields than an entry may have',
      `${'A=12345\n'.repeat(9)}${dataField('B', '12')}\nC=1\n\n`,
      [`${'A=12345\n'.repeat(3)}A=12345\n\nC=1\n\n`, ''],
    ],
  ];
  for (const [name, text, expected] of cases) {
    test(`${name}, however they arrive`, () => {
      for (let size = 1; size <= text.length; size += 1) {
        const steps = split(text, size);
        assert.deepEqual(steps.slice(0, expected.length), expected, `in pieces of ${size}`);
        assert.ok(steps.slice(expected.length).every((step) => step === ''));
      }
    });
  }

  test('end with the bytes or the time that a step may have', () => {
    const text = 'A=1\n\n'.repeat(6);
    const many = { ...limits, entries: 100 };
    assert.deepEqual(split(text, 100, { ...many, bytes: 14 }), [
      'A=1\n\n'.repeat(3),
      'A=1\n\n'.repeat(3),
      '',
    ]);
    let nowMs = 0;
    const steps = split(text, 5, many, () => (nowMs += 4));
    assert.ok(steps.length > 2, `${steps.length}`);
    assert.equal(steps.join(''), text);
  });

  test('refuse a long name', () => {
    assert.throws(() => split('A'.repeat(300), 10), { code: 'malformed' });
  });
});
