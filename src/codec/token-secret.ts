/**
 * The secret of a token: `wri_` (ingest) or `wra_` (access) and 52 base32 characters, 260 random
 * bits. Only its SHA-256 digest is stored: with 260 random bits a slow password hash adds nothing.
 */
import { hash } from 'node:crypto';
import type { TokenType } from '../model/account.ts';
import { randomBase32 } from '../std/random-id.ts';

const prefixes = { ingest: 'wri_', access: 'wra_' } as const satisfies Record<TokenType, string>;

export function mintSecret(type: TokenType): string {
  return prefixes[type] + randomBase32(52);
}

/** Lower-case hex SHA-256 of the whole secret, prefix included. */
export function digestSecret(secret: string): string {
  return hash('sha256', secret);
}
