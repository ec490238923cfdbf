/** State of a token. Pure. */
import type { Token } from '../api/models.ts';

export type TokenState = 'active' | 'revoked' | 'expired';

export function toTokenState(
  { revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>,
  nowMs: number,
): TokenState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active';
}

/** Active first, then newest. */
export function sortTokens<Listed extends Pick<Token, 'revokedAt' | 'expiresAt' | 'createdAt'>>(
  tokens: readonly Listed[],
  nowMs: number,
): Listed[] {
  const rank = (token: Listed) => (toTokenState(token, nowMs) === 'active' ? 0 : 1);
  return tokens.toSorted(
    (a, b) => rank(a) - rank(b) || Date.parse(b.createdAt) - Date.parse(a.createdAt),
  );
}

/** @param days as typed; empty = never @returns undefined for an invalid number */
export function toExpiry(days: string, nowMs: number): string | null | undefined {
  const text = days.trim();
  if (text === '') return null;
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0) return undefined;
  return new Date(nowMs + Number(text) * 86_400_000).toISOString();
}
