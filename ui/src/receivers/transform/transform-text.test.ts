/** Steps as text, and faults of the service at their places in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiProblem } from '../../api/problem.ts';
import { examples, isFault, readSteps, toStepFaults, toText, withStep } from './transform-text.ts';

const steps = examples.map(({ step }) => step);

test('writes a step in each line', () => {
  const text = toText(steps.slice(0, 2));
  assert.equal(
    text,
    [
      '[',
      '  { "type": "parse", "format": "json" },',
      String.raw`  { "type": "extract", "pattern": "user=(?P<user>\\w+)" }`,
      ']',
      '',
    ].join('\n'),
  );
  assert.deepEqual(readSteps(text), steps.slice(0, 2));
});

test('keeps line breaks within a value', () => {
  const step = { type: 'redact' as const, replacement: 'a\n   b' };
  assert.deepEqual(readSteps(toText([step])), [step]);
});

test('adds a step at the end, and keeps what is written', () => {
  let text = '[]';
  for (const step of steps) text = withStep(text, step)!;
  assert.equal(text, toText(steps));
  const own = '[\n{"type":"remove",\n  "fields":["]"]} ]';
  assert.equal(withStep(own, steps[0]!)!.startsWith(own.slice(0, -2)), true);
  assert.equal(withStep('[{"type":', steps[0]!), undefined);
});

test('says why a text has no steps', () => {
  for (const text of ['', '{}', '[1', 'null', "[{'type':'parse'}]"]) {
    const read = readSteps(text);
    assert.ok(isFault(read), text);
    assert.match(read.message, /^cannot read the steps/);
  }
  const read = readSteps('[\n  {"type": "parse" "format": "json"}\n]');
  assert.equal(isFault(read) && read.position, 21);
});

test('places each fault at its field, at its step when the field is missing', () => {
  const text = toText(steps);
  const detail =
    'cannot accept the body: transform.1.pattern: is not an RE2 pattern: bad; `(a: b`; ' +
    'transform.4.where.field: too small; transform.5: give kinds; transform.6.share.x: no; ' +
    'unknown field "transform.0.a"; transform: too big: expected array to have <=20 items';
  const faults = toStepFaults(text, new ApiProblem(400, { detail }));
  const at = (needle: string) => text.indexOf(needle);
  assert.deepEqual(faults, [
    {
      position: at('"pattern"'),
      message: 'step 2, pattern: is not an RE2 pattern: bad; `(a: b`',
    },
    { position: at('"field": "severity"'), message: 'step 5, where.field: too small' },
    { position: at('{ "type": "redact"'), message: 'step 6: give kinds' },
    { position: at('"share"'), message: 'step 7, share.x: no' },
    { position: at('{ "type": "parse"'), message: 'step 1: unknown field "a"' },
    { position: undefined, message: 'transform: too big: expected array to have <=20 items' },
  ]);
});

test('has no place for other errors', () => {
  const message = 'cannot transform metrics: a receiver of logs has a transform';
  const problem = new ApiProblem(400, { detail: message });
  assert.deepEqual(toStepFaults('[]', problem), [{ position: undefined, message }]);
});
