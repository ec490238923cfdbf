/** Bombs on many connections at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bombSuite } from './bomb-suite.ts';
import { bombs } from './bombs.ts';

/** HTTP status and gRPC status. */
const unavailable = [503, 14];
/** Another bomb at the same time may have used up the quota of series. */
const overQuota = [429, 8];
const connections = 16;

bombSuite('bombs on 16 connections at once', (throwAll) => {
  for (let at = 0; at < bombs.length; at += connections) {
    const names = bombs.slice(at, at + connections).map(({ name }) => name);
    test(`different bombs, from "${names[0]!}" on`, () => expectAnswers(names));
  }
  for (const { name } of bombs.filter(({ isHeavy }) => isHeavy === true)) {
    test(name, () => expectAnswers(Array.from({ length: connections }, () => name)));
  }

  async function expectAnswers(names: readonly string[]): Promise<void> {
    const statuses = await throwAll(names);
    for (const [index, status] of statuses.entries()) {
      const { name, expected } = bombs.find((bomb) => bomb.name === names[index])!;
      const isAnswered = [...expected, ...unavailable, ...overQuota].includes(status);
      assert.ok(isAnswered, `the status of "${name}" is ${status}`);
    }
    assert.ok(
      statuses.some((status) => !unavailable.includes(status)),
      'at least one must be processed',
    );
  }
});
