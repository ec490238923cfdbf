/** What an identity of the OpenID Connect provider may do: the rules of `oidc.grants`. */
import { accessScopes, type Token } from '../model/account.ts';

type AccessScope = (typeof accessScopes)[number];

export interface OidcGrant extends Pick<Token, 'accountIds' | 'allAccounts' | 'scopes'> {
  readonly claim: string;
  readonly value: string;
}

export type Claims = Readonly<Record<string, unknown>>;

const pattern = /^([^=\s]+)=(\S.*?)\s+(\S+)\s+(\S+)$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** @throws Error with the invalid rule */
export function parseGrants(rules: readonly string[]): OidcGrant[] {
  return rules.map((rule) => {
    const fault = (reason: string) =>
      new Error(
        `cannot use ${JSON.stringify(rule)} in oidc.grants: ${reason}; write ` +
          '"claim=value account+account scope+scope", with "all" for all accounts',
      );
    const [, claim = '', value = '', accounts = '', scopeList = ''] = pattern.exec(rule) ?? [];
    if (claim === '') throw fault('it has another form');
    const scopes = scopeList.split('+').map((scope) => {
      if ((accessScopes as readonly string[]).includes(scope)) return scope as AccessScope;
      throw fault(`${scope} is not a scope (${accessScopes.join(', ')})`);
    });
    const allAccounts = accounts === 'all';
    if (allAccounts && !scopes.includes('operator')) {
      throw fault('all accounts need the scope operator');
    }
    const accountIds = allAccounts ? [] : accounts.toLowerCase().split('+');
    const unknown = accountIds.find((accountId) => !uuid.test(accountId));
    if (unknown !== undefined) throw fault(`${unknown} is not the UUID of an account`);
    return { claim, value, accountIds, allAccounts, scopes };
  });
}

/** @returns the first rule that the claims match: rules do not add up, so no scope leaks over. */
export function findGrant(grants: readonly OidcGrant[], claims: Claims): OidcGrant | undefined {
  return grants.find(({ claim, value }) => {
    // The provider has not checked that the address belongs to this person. Some send text.
    if (claim === 'email' && String(claims['email_verified']) === 'false') return false;
    const claimed = claims[claim];
    const values: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed];
    return values.some((one) => isScalar(one) && String(one) === value);
  });
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
