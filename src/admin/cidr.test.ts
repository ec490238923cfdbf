/** Valid and invalid address ranges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isCidr, toCanonicalCidr } from './cidr.ts';

const canonical = {
  '10.0.0.0/8': '10.0.0.0/8',
  '10.1.2.3/8': '10.0.0.0/8',
  '192.0.2.7': '192.0.2.7/32',
  '0.0.0.0/0': '0.0.0.0/0',
  '2001:DB8::1/32': '2001:db8::/32',
  '::1': '::1/128',
  '::/0': '::/0',
};
for (const [text, range] of Object.entries(canonical)) {
  test(`reads ${text} as ${range}`, () => {
    assert.equal(isCidr(text), true);
    assert.equal(toCanonicalCidr(text), range);
  });
}

const refused = [
  '',
  '/8',
  '10/8',
  '0x0a000001',
  '010.0.0.1',
  '256.0.0.1/8',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/ 8',
  '::/129',
  'fe80::1%eth0/64',
  '::ffff:10.0.0.1',
  'example.com',
];
for (const text of refused) {
  test(`refuses ${JSON.stringify(text)}`, () => assert.equal(isCidr(text), false));
}

test('the canonical form is stable, and no text throws', () => {
  const ranges = fc.oneof(
    fc.tuple(fc.ipV4(), fc.nat(32)),
    fc.tuple(fc.ipV6(), fc.nat(128)),
    fc.tuple(fc.string(), fc.nat(200)),
  );
  fc.assert(
    fc.property(ranges, ([address, length]) => {
      const text = `${address}/${length}`;
      if (!isCidr(text)) return;
      const range = toCanonicalCidr(text);
      assert.equal(toCanonicalCidr(range), range);
    }),
  );
});
