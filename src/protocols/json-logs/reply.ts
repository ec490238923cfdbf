/** The answer to plain JSON logs (SPEC §2 "Ingest success body"). */
import type { Batch } from '../../model/batch.ts';

/** `accepted` counts the events taken; `rejected` lists the first of the others with their position and the reason. */
export function replyJsonLogs(batch: Batch): string {
  if (batch.rejectedCount === 0) return `{"accepted":${batch.rows}}`;
  return JSON.stringify({
    accepted: batch.rows,
    rejected: batch.rejected,
    rejectedCount: batch.rejectedCount,
  });
}
