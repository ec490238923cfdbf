/** Rules of oidc.grants: their form, and which one an identity gets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGrant, parseGrants } from './oidc-grants.ts';

const one = '3f6f0c1e-8a54-4c1b-9d0e-1f2a3b4c5d6e';
const two = '00000000-0000-4000-8000-000000000001';

const grants = parseGrants([
  `groups=Site Reliability all operator+admin`,
  `groups=support ${one}+${two.toUpperCase()} logs:read+analytics:read`,
  `email=eve@example.com ${two} logs:read`,
  `staff=true ${one} logs:read`,
]);
const accountsOf = (claims: Record<string, unknown>) => findGrant(grants, claims)?.accountIds;

test('reads claim, value, accounts and scopes', () => {
  assert.deepEqual(grants[0], {
    claim: 'groups',
    value: 'Site Reliability',
    accountIds: [],
    allAccounts: true,
    scopes: ['operator', 'admin'],
  });
  assert.deepEqual(grants[1]?.accountIds, [one, two]);
  assert.deepEqual(grants[1]?.scopes, ['logs:read', 'analytics:read']);
});

test('the first matching rule counts', () => {
  const both = { groups: ['support', 'Site Reliability'] };
  assert.equal(findGrant(grants, both), grants[0]);
  assert.equal(findGrant(grants, { groups: 'support', email: 'eve@example.com' }), grants[1]);
});

test('compares whole values, of a claim or of one in its list', () => {
  assert.deepEqual(accountsOf({ staff: true }), [one]);
  for (const claims of [
    {},
    { groups: [] },
    { groups: 'support2' },
    { groups: ['Support'] },
    { groups: { support: true } },
    { email: null },
    { mail: 'eve@example.com' },
  ]) {
    assert.equal(findGrant(grants, claims), undefined, JSON.stringify(claims));
  }
});

test('does not trust an unverified address', () => {
  const email = 'eve@example.com';
  assert.deepEqual(accountsOf({ email }), [two]);
  assert.deepEqual(accountsOf({ email, email_verified: true }), [two]);
  assert.deepEqual(accountsOf({ email, email_verified: 'true' }), [two]);
  assert.equal(accountsOf({ email, email_verified: false }), undefined);
  assert.equal(accountsOf({ email, email_verified: 'false' }), undefined);
});

const invalid: readonly (readonly [string, RegExp])[] = [
  ['groups=sre', /it has another form/],
  [`groups sre ${one} logs:read`, /it has another form/],
  [`= ${one} logs:read`, /it has another form/],
  [`groups=sre ${one} logs:write`, /logs:write is not a scope \(logs:read, .*operator\)/],
  [`groups=sre ${one} ingest:write`, /ingest:write is not a scope/],
  ['groups=sre all logs:read', /all accounts need the scope operator/],
  ['groups=sre acme logs:read', /acme is not the UUID of an account/],
];
for (const [rule, reason] of invalid) {
  test(`refuses ${rule}`, () => {
    assert.throws(() => parseGrants([rule]), reason);
    assert.throws(() => parseGrants([rule]), /cannot use ".*" in oidc\.grants/);
  });
}
