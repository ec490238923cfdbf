/** Colours of services. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { toServiceColor } from './service-color.ts';

const names = Array.from({ length: 10 }, (_, at) => `service-${at}`);

test('no two services of a page share a colour', () => {
  const own = names.map(toServiceColor([]));
  assert.ok(new Set(own).size < names.length, 'some share that of their names');
  assert.equal(new Set(names.map(toServiceColor(names))).size, names.length);
});

test('a service keeps its colour unless another has it', () => {
  const own = toServiceColor([]);
  for (const name of names) {
    assert.equal(toServiceColor([name])(name), own(name));
    assert.equal(toServiceColor(['unrelated', name])('elsewhere'), own('elsewhere'));
  }
  const reversed = toServiceColor(names.toReversed());
  assert.deepEqual(names.map(reversed), names.map(toServiceColor(names)));
});

test('more services than colours share some', () => {
  const many = Array.from({ length: 30 }, (_, at) => `s${at}`);
  assert.equal(new Set(many.map(toServiceColor(many))).size, 10);
});
