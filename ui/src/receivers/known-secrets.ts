/** Secrets issued on this page, for the configurations; discarded when the page is closed. */

export interface KnownSecret {
  readonly tokenId: string;
  readonly name: string;
  readonly secret: string;
}

/** Newest first; replaces an earlier secret of the same token. */
export function withSecret(
  secrets: readonly KnownSecret[],
  known: KnownSecret,
): readonly KnownSecret[] {
  return [known, ...secrets.filter(({ tokenId }) => tokenId !== known.tokenId)];
}
