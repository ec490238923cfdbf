/** Roles of a process, and combinations that are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, loadConfig } from './load.ts';
import { rolesOf } from './roles.ts';

function faultsOf(flags: string): readonly string[] {
  try {
    loadConfig({ flags: flags.split(' ').filter((flag) => flag !== ''), environment: {} });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
}

const nats = '--queue-urls nats://a:4222';
const postgres = '--directory-url postgres://a/weir';
const server = '--store-url http://a:8123';

test('defaults to all roles, without engine when store.url is set', () => {
  const own = (flags: string[]) => [...rolesOf(loadConfig({ flags, environment: {} }))];
  assert.deepEqual(own([]), ['gateway', 'stream', 'writer', 'engine']);
  assert.deepEqual(own(server.split(' ')), ['gateway', 'stream', 'writer']);
  assert.deepEqual(own(['--roles', 'engine']), ['engine']);
});

test('rejects separate roles on embedded parts', () => {
  assert.deepEqual(faultsOf(''), []);
  assert.deepEqual(faultsOf(server), []);
  assert.deepEqual(faultsOf('--roles engine'), []);
  assert.deepEqual(faultsOf(`--roles gateway ${nats} ${postgres}`), []);
  assert.deepEqual(faultsOf(`--roles stream,writer ${nats} ${postgres} ${server}`), []);

  const alone = faultsOf('--roles gateway');
  assert.equal(alone.length, 2);
  assert.match(alone[0]!, /roles gateway without queue\.urls/);
  assert.match(alone[1]!, /without directory\.url/);
  assert.match(faultsOf(`--roles stream ${nats} ${postgres}`).join(), /without store\.url/);
  assert.match(
    faultsOf(`--roles writer,engine ${nats} ${postgres}`).join(),
    /engine is used alone/,
  );
  assert.match(faultsOf(`--roles engine ${server}`).join(), /engine with store\.url/);
  assert.match(faultsOf('--roles engine --workers 2').join(), /2 workers without the role/);
  assert.match(faultsOf('--roles gatewy').join(), /gatewy|roles/);
});
