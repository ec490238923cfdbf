/** Maps error responses to form fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiProblem } from '../api/problem.ts';
import { otherThan, toFieldFaults } from './field-faults.ts';

function problem(detail: string, parameter = ''): ApiProblem {
  return new ApiProblem(400, { detail, parameter });
}

test('assigns each fault of a body to its field', () => {
  const detail =
    'cannot accept the body: name: too small; limits.burstEvents: expected int; unknown field "x"';
  assert.deepEqual(toFieldFaults(problem(detail, 'name')), {
    fields: { name: 'too small', 'limits.burstEvents': 'expected int' },
    other: 'unknown field "x"',
  });
});

test('explains an empty text', () => {
  const detail = 'cannot accept the body: name: too small: expected string to have >=1 characters';
  assert.deepEqual(toFieldFaults(problem(detail)).fields, { name: 'cannot be empty' });
});

test('assigns other errors to their parameter, or to the form', () => {
  const past = problem('cannot let a token expire at 2020: that is past', 'expiresAt');
  assert.deepEqual(toFieldFaults(past).fields, { expiresAt: past.message });
  assert.deepEqual(toFieldFaults(problem('cannot delete it: it is fed')), {
    fields: {},
    other: 'cannot delete it: it is fed',
  });
  assert.equal(toFieldFaults(new TypeError('failed')).other, 'failed');
});

test('names fields that the form does not show', () => {
  const faults = toFieldFaults(problem('cannot accept the body: a: bad; b.1: worse; c: no'));
  assert.equal(otherThan(faults, ['a', 'b']), 'c: no');
  assert.equal(otherThan(faults, ['a', 'b', 'c']), undefined);
});
