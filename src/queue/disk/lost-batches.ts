/**
 * What opening the log finds missing: segments that are gone, and ends that hold less than was
 * synced. It reads no file; segments, checkpoint and mark tell.
 */
import type { QueueDamage } from '../../telemetry/queue-events.ts';
import { maxUnsyncedBatches } from './log-options.ts';
import type { Checkpoint } from './records.ts';
import { type Scan, type Segment, segmentName, type SegmentSummary } from './segment.ts';
import type { Synced } from './records.ts';

/** The mark, where it is one of this segment. */
export function syncedOf(segment: Segment, synced: Synced | undefined): Synced | undefined {
  return synced?.firstSequence === segment.firstSequence ? synced : undefined;
}

/**
 * A segment with all of its batches and no intact seal. A kill leaves a seal that is not synced; a
 * power cut after the next start tears it.
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
    setAside: '',
  };
}

/**
 * What the last segment lacks behind its last readable batch, and which bytes it has there instead.
 * @returns undefined where it ends as it should
 */
export function describeEnd(
  segment: Segment,
  { summary, gaps }: Scan,
  known: { readonly synced: Synced | undefined; readonly released: bigint },
): Omit<QueueDamage, 'setAside'> | undefined {
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
    // Without a mark nothing tells whether the end had been acknowledged.
    const batches = synced === undefined ? undefined : 0;
    return { kind: 'torn', ...range, bytes, fromSequence, toSequence, batches };
  }
  const kind = segment.fileBytes < synced.end ? 'missing' : 'corrupt';
  const toSequence = synced.lastSequence;
  return { kind, ...range, bytes, fromSequence, toSequence, batches: Number(toSequence - after) };
}

/** What opening the log found of it. */
export interface AppendedLog {
  readonly segments: readonly Segment[];
  /** Segments without a readable batch. */
  readonly empty: readonly Segment[];
  readonly checkpoint: Checkpoint;
  readonly synced: Synced | undefined;
}

/**
 * Each segment names the last sequence before it, and the mark the last one of all: a gap is a
 * segment that is gone.
 * @param isReleaseKnown false where nothing tells what had been released before the first segment
 */
export function findMissing(log: AppendedLog, isReleaseKnown: boolean): QueueDamage[] {
  const { segments, empty, checkpoint, synced } = log;
  const damage: QueueDamage[] = [];
  const first = segments[0]?.header;
  let known = isReleaseKnown ? checkpoint.released : (first?.previousSequence ?? 0n);
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

/** @param batches ever appended up to the two ends, where they were recorded */
function describeGap(
  after: bigint,
  to: bigint,
  [before, behind]: readonly [bigint | undefined, bigint | undefined],
): QueueDamage {
  const isCounted = before !== undefined && behind !== undefined && behind >= before;
  return {
    kind: 'missing',
    segment: segmentName(after + 1n),
    offset: 0,
    bytes: 0,
    fromSequence: after + 1n,
    toSequence: to,
    batches: isCounted ? Number(behind - before) : undefined,
    setAside: '',
  };
}

/** Batches that were ever appended up to this sequence; undefined where it was not recorded. */
export function batchesUpTo(segment: Segment, sequence: bigint): bigint | undefined {
  const before = segment.header?.batchesBefore;
  // Sequences within a segment follow each other without a gap.
  return before === undefined ? undefined : before + sequence - segment.firstSequence + 1n;
}

/** The highest count that any file has. */
export function countAppended({ segments, checkpoint, synced }: AppendedLog): bigint {
  const last = segments.at(-1);
  const counts = [
    last === undefined ? undefined : batchesUpTo(last, last.lastSequence),
    checkpoint.releasedBatches,
    synced?.batches,
  ];
  return counts.reduce<bigint>((most, count) => ((count ?? 0n) > most ? count! : most), 0n);
}
