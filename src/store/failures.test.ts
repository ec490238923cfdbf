/** Maps failures of the engine to errors of the store. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ClickHouseError } from '@clickhouse/client';
import { unreachableError } from '../std/circuit-breaker.ts';
import { toInsertError, toReadError } from './failures.ts';

const clickHouse = (code: string, message = 'SELECT secret FROM /var/lib/x') =>
  new ClickHouseError({ message, code, type: 'SOME_TYPE' });
const memoryLimit = (of: string) =>
  clickHouse('241', `${of} memory limit exceeded: would use 2 GiB`);
const system = (code: string, syscall = 'connect') =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

const cut = clickHouse('32', 'Attempt to read after eof: while receiving packet from n2:9000');

suite('a failed insert', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['rows that do not parse', clickHouse('27'), 'data'],
    ['rows that end too early', clickHouse('32'), 'data'],
    ['rows that a constraint forbids', clickHouse('469'), 'data'],
    ['memory that other statements take', memoryLimit('(total)'), 'unavailable'],
    ['memory of the insert itself', memoryLimit('Query'), 'data'],
    ['a limit', clickHouse('159'), 'unavailable'],
    ['a busy server', clickHouse('202'), 'unavailable'],
    ['a server that does not know', clickHouse('319'), 'unknown'],
    ['a copy of it, sent by a proxy, that still runs', clickHouse('216'), 'unknown'],
    ['no socket', system('ENOENT'), 'unavailable'],
    ['no listener', system('ECONNREFUSED'), 'unavailable'],
    ['no name', system('ENOTFOUND', 'getaddrinfo'), 'unavailable'],
    ['no connection in time', system('ETIMEDOUT'), 'unavailable'],
    ['none at any address', new AggregateError([system('ECONNREFUSED')]), 'unavailable'],
    ['a store known to be away', unreachableError('the store', undefined), 'unavailable'],
    ['a connection that broke', system('ECONNRESET', 'read'), 'unknown'],
    ['a host lost meanwhile', system('EHOSTUNREACH', 'read'), 'unknown'],
    ['a peer that fell silent', system('ETIMEDOUT', 'read'), 'unknown'],
    ['no answer in time', new Error('Timeout error.'), 'unknown'],
  ];
  for (const [name, error, failure] of cases) {
    test(`${name} is ${failure}`, () => assert.equal(toInsertError(error).failure, failure));
  }

  test('a limit of memory on a cluster is unknown: other nodes may have stored rows', () => {
    const { failure } = toInsertError(memoryLimit('Query'), { cluster: 'weir' });
    assert.equal(failure, 'unknown');
  });

  test('a busy node of a cluster is unknown: others may be storing their part', () => {
    assert.equal(toInsertError(clickHouse('202'), { cluster: 'weir' }).failure, 'unknown');
  });

  test('a cut connection to another node is unknown: it may have stored rows', () => {
    assert.equal(toInsertError(cut, { cluster: 'weir' }).failure, 'unknown');
    assert.equal(toInsertError(clickHouse('32'), { cluster: 'weir' }).failure, 'data');
  });
});

suite('a failed read', () => {
  const cases: readonly (readonly [string, unknown, string, RegExp])[] = [
    ['time', clickHouse('159'), 'unavailable', /narrow the time range/],
    ['memory', clickHouse('241'), 'unavailable', /narrow the time range/],
    ['rows', clickHouse('158'), 'unavailable', /narrow the time range/],
    ['too many queries', clickHouse('202'), 'unavailable', /too many queries/],
    ['a node that does not answer', clickHouse('279'), 'unavailable', /node of the store/],
    ['a node lost meanwhile', cut, 'unavailable', /node of the store/],
    ['no engine', system('ENOENT'), 'unavailable', /cannot reach the store/],
    ['a pattern that is none', clickHouse('427'), 'malformed', /must be RE2/],
    ['a fault of ours', clickHouse('47'), 'internal', /cannot read the store/],
  ];
  for (const [name, error, code, message] of cases) {
    test(`${name} is ${code}, without details of the store`, () => {
      const answer = toReadError(error);
      assert.equal(answer.code, code);
      assert.match(answer.message, message);
      assert.doesNotMatch(answer.message, /SELECT|\/var|SOME_TYPE/);
    });
  }
});
