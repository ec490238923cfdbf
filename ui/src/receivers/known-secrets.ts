/** Secrets shown on this page, kept until it is left so that configurations carry them. */

export interface KnownSecret {
  readonly tokenId: string;
  readonly name: string;
  readonly secret: string;
}

/** With this one first, in place of an earlier one of the same token. */
export function withSecret(
  secrets: readonly KnownSecret[],
  known: KnownSecret,
): readonly KnownSecret[] {
  return [known, ...secrets.filter(({ tokenId }) => tokenId !== known.tokenId)];
}
