/** Refusals of forms as the service words them, and the fields that they are about. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiProblem } from '../api/problem.ts';
import { otherThan, toFieldFaults } from './field-faults.ts';

function problem(detail: string, parameter = ''): ApiProblem {
  return new ApiProblem(400, { detail, parameter });
}

test('each fault of a body goes to its field', () => {
  const detail =
    'cannot accept the body: name: too small; limits.burstEvents: expected int; unknown field "x"';
  assert.deepEqual(toFieldFaults(problem(detail, 'name')), {
    fields: { name: 'too small', 'limits.burstEvents': 'expected int' },
    other: 'unknown field "x"',
  });
});

test('an empty text is told in plain words', () => {
  const detail = 'cannot accept the body: name: too small: expected string to have >=1 characters';
  assert.deepEqual(toFieldFaults(problem(detail)).fields, { name: 'cannot be empty' });
});

test('another refusal with a parameter belongs to that field, one without to none', () => {
  const past = problem('cannot let a token expire at 2020: that is past', 'expiresAt');
  assert.deepEqual(toFieldFaults(past).fields, { expiresAt: past.message });
  assert.deepEqual(toFieldFaults(problem('cannot delete it: it is fed')), {
    fields: {},
    other: 'cannot delete it: it is fed',
  });
  assert.equal(toFieldFaults(new TypeError('failed')).other, 'failed');
});

test('a fault of a field that the form does not show is told with its name', () => {
  const faults = toFieldFaults(problem('cannot accept the body: a: bad; b.1: worse; c: no'));
  assert.equal(otherThan(faults, ['a', 'b']), 'c: no');
  assert.equal(otherThan(faults, ['a', 'b', 'c']), undefined);
});
