/** Finds lost batches by comparing segments, checkpoint and mark. Pure. */
import type { QueueDamage } from '../../telemetry/queue-events.ts';
import type { Checkpoint } from './records.ts';
import { type Scan, type Segment, segmentName, type SegmentSummary } from './segment.ts';
import type { Synced } from './records.ts';
import { maxUnsyncedBatches } from './log-directory.ts';

/** The mark, if it is in this segment. */
export function syncedOf(segment: Segment, synced: Synced | undefined): Synced | undefined {
  return synced?.firstSequence === segment.firstSequence ? synced : undefined;
}

/**
 * A segment with all of its batches and a torn seal: a kill leaves the seal unsynced, and a later
 * power cut tears it.
 */
export function describeSeal(segment: Segment, { end, lastSequence }: SegmentSummary): QueueDamage {
  return {
    kind: 'torn',
    segment: segmentName(segment.firstSequence),
    offset: end,
    bytes: segment.fileBytes - end,
    fromSequence: lastSequence + 1n,
    toSequence: lastSequence,
    batches: 0,
  };
}

/**
 * Compares the end of the last segment with the mark.
 * @returns what is lost or torn after its last readable batch; undefined for a clean end
 */
export function describeEnd(
  segment: Segment,
  { summary, gaps }: Scan,
  known: { readonly synced: Synced | undefined; readonly released: bigint },
): QueueDamage | undefined {
  const { synced, released } = known;
  const tail = gaps.find((gap) => gap.offset >= summary.end);
  const after = summary.lastSequence > released ? summary.lastSequence : released;
  const lost = synced !== undefined && synced.lastSequence > after;
  if (!lost && tail === undefined) return undefined;
  const range = { segment: segmentName(segment.firstSequence), offset: summary.end };
  const bytes = tail?.bytes ?? 0;
  const fromSequence = after + 1n;
  if (!lost) {
    const toSequence = after + BigInt(maxUnsyncedBatches);
    // Without a mark it is unknown whether the end was acknowledged.
    const batches = synced === undefined ? undefined : 0;
    return { kind: 'torn', ...range, bytes, fromSequence, toSequence, batches };
  }
  const kind = segment.fileBytes < synced.end ? 'missing' : 'corrupt';
  const toSequence = synced.lastSequence;
  return { kind, ...range, bytes, fromSequence, toSequence, batches: Number(toSequence - after) };
}

export interface AppendedLog {
  readonly segments: readonly Segment[];
  /** Segments without a readable batch. */
  readonly empty: readonly Segment[];
  readonly checkpoint: Checkpoint;
  readonly synced: Synced | undefined;
}

/**
 * Finds missing segments: each segment records the last sequence before it, and the mark the last
 * one of all.
 * @param isReleaseKnown false without a checkpoint: the first segment then counts as the oldest
 */
export function findMissing(log: AppendedLog, isReleaseKnown: boolean): QueueDamage[] {
  const { segments, empty, checkpoint, synced } = log;
  const damage: QueueDamage[] = [];
  const first = segments[0]?.header;
  // A mark without a segment: all up to it was released.
  const begin = synced?.firstSequence === 0n ? synced.lastSequence : 0n;
  let known = isReleaseKnown ? checkpoint.released : (first?.previousSequence ?? begin);
  let batches = isReleaseKnown ? checkpoint.releasedBatches : first?.batchesBefore;
  for (const segment of segments) {
    const previous = segment.header?.previousSequence ?? 0n;
    if (previous > known) {
      damage.push(describeGap(known, previous, [batches, segment.header?.batchesBefore]));
    }
    if (segment.lastSequence > known) {
      known = segment.lastSequence;
      batches = batchesUpTo(segment, known);
    }
  }
  const isMarked = (segment: Segment) => syncedOf(segment, synced) !== undefined;
  const isMarkedThere = [...segments, ...empty].some(isMarked);
  if (synced !== undefined && synced.lastSequence > known && !isMarkedThere) {
    damage.push(describeGap(known, synced.lastSequence, [batches, synced.batches]));
  }
  return damage;
}

/** @param batches ever appended up to either end, where recorded */
function describeGap(
  after: bigint,
  to: bigint,
  [before, upTo]: readonly [bigint | undefined, bigint | undefined],
): QueueDamage {
  const isCounted = before !== undefined && upTo !== undefined && upTo >= before;
  return {
    kind: 'missing',
    segment: segmentName(after + 1n),
    offset: 0,
    bytes: 0,
    fromSequence: after + 1n,
    toSequence: to,
    batches: isCounted ? Number(upTo - before) : undefined,
  };
}

/** Batches ever appended up to this sequence, where recorded. */
export function batchesUpTo(segment: Segment, sequence: bigint): bigint | undefined {
  const before = segment.header?.batchesBefore;
  // A segment has no gap in its sequences.
  return before === undefined ? undefined : before + sequence - segment.firstSequence + 1n;
}

/** Batches ever appended: the highest count in any file. */
export function countAppended({ segments, checkpoint, synced }: AppendedLog): bigint {
  const last = segments.at(-1);
  const counts = [
    last === undefined ? undefined : batchesUpTo(last, last.lastSequence),
    checkpoint.releasedBatches,
    synced?.batches,
  ];
  return counts.reduce<bigint>((most, count) => ((count ?? 0n) > most ? count! : most), 0n);
}
