/** Client addresses behind proxies, and membership in address ranges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { clientAddress, isWithin, parseRanges } from './client-address.ts';

const proxies = parseRanges(['10.0.0.0/8', '::1']);

const addresses: readonly [
  name: string,
  peer: string,
  hops: string[],
  expected: string | undefined,
][] = [
  ['the peer itself', '192.0.2.1', [], '192.0.2.1'],
  ['a mapped peer', '::ffff:192.0.2.1', [], '192.0.2.1'],
  ['hops of a peer that is no proxy', '192.0.2.1', ['10.0.0.1'], '192.0.2.1'],
  ['the hop before a proxy', '10.0.0.1', ['192.0.2.7'], '192.0.2.7'],
  ['the right-most hop that is no proxy', '::1', ['192.0.2.7, 192.0.2.8, 10.1.1.1'], '192.0.2.8'],
  ['hops over two headers', '10.0.0.1', ['192.0.2.7', '192.0.2.8'], '192.0.2.8'],
  ['proxies all the way', '10.0.0.1', ['10.0.0.2'], '10.0.0.2'],
  ['a mapped hop', '10.0.0.1', ['::ffff:192.0.2.7'], '192.0.2.7'],
  ['a hop with a port', '10.0.0.1', ['192.0.2.7:80'], undefined],
  ['a short hop', '10.0.0.1', ['127.1'], undefined],
  ['a hexadecimal hop', '10.0.0.1', ['0x7f.1'], undefined],
  ['a hop with a zone', '10.0.0.1', ['fe80::1%eth0'], undefined],
  ['an empty hop', '10.0.0.1', ['192.0.2.7,'], undefined],
  ['a peer that is gone', '', [], undefined],
];

for (const [name, peer, hops, expected] of addresses) {
  test(`${name} gives ${expected ?? 'nothing'}`, () => {
    assert.equal(clientAddress(peer, hops, proxies)?.toString(), expected);
  });
}

const ranges: readonly [range: string, address: string, expected: boolean][] = [
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.0/24', '::ffff:192.0.2.9', true],
  ['::ffff:192.0.2.0/120', '192.0.2.9', true],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['2001:db8::/32', '192.0.2.1', false],
  ['0.0.0.0/0', '2001:db8::1', false],
];

for (const [range, address, expected] of ranges) {
  test(`${range} ${expected ? 'contains' : 'does not contain'} ${address}`, () => {
    const found = clientAddress(address, [], []);
    assert.equal(found !== undefined && isWithin(found, parseRanges([range])), expected);
  });
}

test('names an invalid range', () => {
  for (const range of ['', 'all', '10.0.0.0/33', '10.0/8']) {
    assert.throws(
      () => parseRanges([range]),
      (error) => error instanceof AppError && error.message.includes(`"${range}"`),
      range,
    );
  }
});
