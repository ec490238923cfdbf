/**
 * The answers that earlier processes gave, as the log has kept them, in the table that recalls
 * them.
 */
import { readKeyEntries } from './key-chunk.ts';
import { KeyTable } from './key-table.ts';
import type { Recovery } from './log-options.ts';

const maxAnswerBytes = 64 * 1024 * 1024;
const nanosPerMs = 1_000_000n;

export function recoverKeys(
  recovery: Pick<Recovery, 'keyChunks'>,
  limits: { readonly idempotencyKeys: number; readonly idempotencyTtlMs: number },
): KeyTable {
  const keys = new KeyTable({
    maxKeys: limits.idempotencyKeys,
    ttlMs: limits.idempotencyTtlMs,
    maxAnswerBytes,
  });
  for (const chunk of recovery.keyChunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (const { key, bodyDigest, answer, stampNanos } of readKeyEntries(bytes)) {
      keys.insert(key, { bodyDigest, answer, stampMs: Number(stampNanos / nanosPerMs) });
    }
  }
  return keys;
}
