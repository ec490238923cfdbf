/** The circuit breaker: refuses requests until a probe succeeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

test('sends no probe while the server answers', () => {
  let probes = 0;
  const circuit = createCircuitBreaker({
    what: 'it',
    probe: async () => (probes += 1),
    pauseMs: 1,
  });
  circuit.check();
  assert.equal(probes, 0);
  circuit.close();
});

test('refuses all requests after a failure until a probe succeeds', async () => {
  const answers: (() => void)[] = [];
  const probe = () => new Promise<void>((resolve) => answers.push(resolve));
  const circuit = createCircuitBreaker({ what: 'it', probe, pauseMs: 1 });
  const cause = new Error('gone');
  circuit.trip(cause);
  circuit.trip(new Error('a later failure'));
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
  let probes = 0;
  const circuit = createCircuitBreaker({
    what: 'it',
    probe: async () => (probes += 1),
    pauseMs: 1,
  });
  circuit.trip(new Error('gone'));
  circuit.reached();
  circuit.check();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(probes, 0);
  circuit.close();
});

test('probes repeatedly until close()', async () => {
  let probes = 0;
  const done = Promise.withResolvers<void>();
  const probe = async () => {
    probes += 1;
    if (probes === 3) done.resolve();
    throw new Error('still gone');
  };
  const circuit = createCircuitBreaker({ what: 'it', probe, pauseMs: 1 });
  circuit.trip(new Error('gone'));
  const keepAlive = setInterval(() => undefined, 1000);
  await done.promise;
  clearInterval(keepAlive);
  circuit.close();
  assert.throws(() => circuit.check(), AppError);
});
