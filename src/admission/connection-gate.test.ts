/** Limits on connections per address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConnectionGate } from './connection-gate.ts';

function open({ atOnce = 1000, perSecond = 2 }, proxies: readonly string[] = []) {
  const clock = { nowMs: 0 };
  const options = {
    maxConnectionsPerAddress: atOnce,
    newConnectionsPerSecond: perSecond,
    trustedProxies: proxies,
  };
  const gate = createConnectionGate(options, () => clock.nowMs);
  const admitted = (address: string, tries: number) =>
    Array.from({ length: tries }, () => gate.admit(address)).filter((one) => one !== undefined);
  return { clock, admitted };
}

test('limits the open connections of an address', () => {
  const { admitted } = open({ atOnce: 3, perSecond: 100 });
  const [first] = admitted('192.0.2.1', 5);
  assert.equal(admitted('192.0.2.1', 5).length, 0);
  assert.equal(admitted('192.0.2.2', 5).length, 3);
  first!.closed();
  first!.closed();
  assert.equal(admitted('192.0.2.1', 5).length, 1);
});

test('allows a burst of five seconds, then the rate', () => {
  const { admitted, clock } = open({ perSecond: 2 });
  assert.equal(admitted('192.0.2.1', 20).length, 10);
  clock.nowMs = 60_000;
  for (const one of admitted('192.0.2.1', 10)) one.closed();
  clock.nowMs = 61_000;
  assert.equal(admitted('192.0.2.1', 20).length, 2);
});

test('charges an abusive connection as many', () => {
  const { admitted, clock } = open({ perSecond: 20 });
  const [first] = admitted('192.0.2.1', 1);
  first!.abused();
  first!.closed();
  assert.equal(admitted('192.0.2.1', 100).length, 49);
  assert.equal(admitted('192.0.2.2', 100).length, 100);
  clock.nowMs = 60_000;
  assert.equal(admitted('192.0.2.1', 100).length, 100);
});

test('treats mapped addresses as IPv4 and an IPv6 /64 as one address', () => {
  const { admitted } = open({ perSecond: 1 });
  assert.equal(admitted('::ffff:192.0.2.1', 3).length, 3);
  assert.equal(admitted('192.0.2.1', 5).length, 2);
  assert.equal(admitted('2001:db8:0:1::1', 3).length, 3);
  assert.equal(admitted('2001:db8:0:1:ffff::2', 5).length, 2);
  assert.equal(admitted('2001:db8:0:2::1', 5).length, 5);
});

test('exempts trusted proxies', () => {
  const { admitted } = open({ atOnce: 1, perSecond: 1 }, ['10.0.0.0/8']);
  assert.equal(admitted('10.1.2.3', 100).length, 100);
});
