/** The circuit breaker: refuses requests until a probe succeeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createCircuit } from './circuit.ts';

test('sends no probe while the server answers', () => {
  let asked = 0;
  const circuit = createCircuit({ what: 'it', ask: async () => (asked += 1), pauseMs: 1 });
  circuit.check();
  assert.equal(asked, 0);
  circuit.close();
});

test('refuses all requests after a failure until a probe succeeds', async () => {
  const answers: (() => void)[] = [];
  const ask = () => new Promise<void>((resolve) => answers.push(resolve));
  const circuit = createCircuit({ what: 'it', ask, pauseMs: 1 });
  const cause = new Error('gone');
  circuit.trip(cause);
  circuit.trip(new Error('gone, said another'));
  const isRefused = (error: unknown) =>
    error instanceof AppError && error.code === 'unavailable' && error.cause === cause;
  assert.throws(() => circuit.check(), isRefused);
  while (answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.throws(() => circuit.check(), isRefused);
  answers[0]!();
  await new Promise(setImmediate);
  circuit.check();
  assert.equal(answers.length, 1);
  circuit.close();
});

test('closes after an answer to another request and stops probing', async () => {
  let asked = 0;
  const circuit = createCircuit({ what: 'it', ask: async () => (asked += 1), pauseMs: 1 });
  circuit.trip(new Error('gone'));
  circuit.reached();
  circuit.check();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(asked, 0);
  circuit.close();
});

test('probes repeatedly until close()', async () => {
  let asked = 0;
  const done = Promise.withResolvers<void>();
  const ask = async () => {
    asked += 1;
    if (asked === 3) done.resolve();
    throw new Error('still gone');
  };
  const circuit = createCircuit({ what: 'it', ask, pauseMs: 1 });
  circuit.trip(new Error('gone'));
  const keepAlive = setInterval(() => undefined, 1000);
  await done.promise;
  clearInterval(keepAlive);
  circuit.close();
  assert.throws(() => circuit.check(), AppError);
});
