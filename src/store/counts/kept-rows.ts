/**
 * Caches times and values of rows that a read needed beside the counts: of steps that its range or
 * buckets cut, and of parts that are not counted. Parts never change, so neither do their rows; a
 * read of the same range, or of one that moved by less than a step, needs no statement. Evicts the
 * least recently used first.
 */
import type { Connection, QueryContext } from '../connection.ts';
import { exceededLimit } from '../failures.ts';
import type { ReadTime } from '../read-time.ts';
import {
  compileKeptRows,
  decodeKeptRows,
  type CountStep,
  type KeptRow,
  type LogPartRow,
  type Scope,
} from '../sql/part-counts.ts';
import type { ReadLimits, Statement } from '../sql/statement.ts';
import type { Placement } from '../sql/tables.ts';
import type { FieldsKey } from './count-cache.ts';
import { type GroupedTicks, type KeptGroup, toGroupedTicks } from './part-counts.ts';
import { floorTo, indexAfter } from './ticks.ts';

/** A step of a part by its first tick, or the whole part. */
interface Piece {
  readonly part: string;
  readonly tick: number | undefined;
}

/** What counts do not answer for. */
export interface Gap {
  /** Of the pieces; undefined = they are whole parts. */
  readonly step: CountStep | undefined;
  readonly pieces: readonly Piece[];
  /** Estimated; Infinity where more than time and values tells which of them match. */
  readonly rows: number;
}

interface KeptPiece extends Piece {
  readonly rows: GroupedTicks;
}

export interface Filling {
  readonly key: FieldsKey;
  readonly context: QueryContext;
  readonly compile: (scope: Scope, limits: ReadLimits) => Statement;
  readonly time: ReadTime;
}

export interface Filled<Row> {
  readonly gap: Gap;
  readonly rows: readonly Row[];
  readonly pieces: readonly KeptPiece[];
  /** Whether all parts were there: a statement sees all rows of a part or none. */
  readonly isComplete: boolean;
}

/** @param maxSize in units of 8 bytes */
export function createKeptRows(
  connection: Pick<Connection, 'read' | 'readBytes'>,
  placement: Placement,
  maxSize: number,
) {
  const kept = new Map<string, KeptPiece>();
  let size = 0;
  let listed: readonly LogPartRow[] = [];

  /** A part may be cut at steps of different lengths that begin at the same tick. */
  const nameOf = ({ accountId, fields }: FieldsKey, { step }: Gap, { part, tick }: Piece) =>
    [accountId, part, step ?? 'all', tick, ...fields.map(encodeURIComponent)].join(' ');

  function drop(name: string): void {
    const piece = kept.get(name);
    if (piece === undefined) return;
    size -= sizeOf(piece);
    kept.delete(name);
  }

  function find(key: FieldsKey, gap: Gap) {
    const known: KeptPiece[] = [];
    const missing: Piece[] = [];
    for (const piece of gap.pieces) {
      const found = kept.get(nameOf(key, gap, piece));
      if (found === undefined) missing.push(piece);
      else known.push(found);
    }
    return { known, missing: { ...gap, pieces: missing } };
  }

  return {
    /** Pieces if these are few rows, else rows of the statement that the query compiles. */
    async fill<Row>(gap: Gap, { key, context, compile, time }: Filling): Promise<Filled<Row>> {
      const brief = { ...context, isBrief: true };
      if (gap.rows <= maxRowsOf(key)) {
        const { known, missing } = find(key, gap);
        if (missing.pieces.length === 0) return { gap, rows: [], pieces: known, isComplete: true };
        const limits = { ...time.left(), maxBytesReturned: maxBytesPerRow * maxRowsOf(key) };
        const read = compileKeptRows(placement, key, { scope: scopeOf(missing), limits });
        try {
          const bytes = await connection.readBytes(read, brief);
          const rows = decodeKeptRows(bytes);
          const pieces = [...known, ...toPieces(missing, rows)];
          // Blocks beside them were read as well.
          if (context.scanned !== undefined) {
            context.scanned.rows += rows.reduce((sum, [, , , ticks]) => sum + ticks.length, 0);
          }
          const seen = new Set(rows.map(([part]) => part));
          const isComplete = missing.pieces.every(({ part }) => seen.has(part));
          return { gap, rows: [], pieces, isComplete };
        } catch (error) {
          if (exceededLimit(error) === undefined) throw error;
        }
      }
      const rows = await connection.read<Row>(compile(scopeOf(gap), time.left()), brief);
      return { gap, rows, pieces: [], isComplete: false };
    },
    /** Keeps pieces of parts that were there while they were read. */
    keep(key: FieldsKey, filled: readonly Filled<unknown>[]): void {
      for (const { gap, pieces } of filled) {
        for (const piece of pieces) {
          const name = nameOf(key, gap, piece);
          drop(name);
          kept.set(name, piece);
          size += sizeOf(piece);
        }
      }
      for (const name of kept.keys()) {
        if (size <= maxSize) return;
        drop(name);
      }
    },
    /** Forgets parts that are gone. */
    follow(parts: readonly LogPartRow[]): void {
      if (parts === listed) return;
      listed = parts;
      const present = new Set(parts.map(([part]) => part));
      for (const [name, { part }] of kept) if (!present.has(part)) drop(name);
    },
  };
}

/** Of a piece without rows, in units of 8 bytes. */
const emptySize = 150;

function sizeOf({ rows }: KeptPiece): number {
  return emptySize + rows.size;
}

function scopeOf({ step, pieces }: Gap): Scope {
  const parts = [...new Set(pieces.map(({ part }) => part))];
  if (step === undefined) return { parts };
  const ticks = new Set(pieces.flatMap(({ tick }) => tick ?? []));
  return { parts, times: { step, ticks: [...ticks].sort((a, b) => a - b) } };
}

/** A time and a share of the values; the estimate is an average over the steps of a part. */
const maxBytesPerRow = 16;

/** A group of rows takes as much to transfer as many rows, and with more fields each is one. */
function maxRowsOf({ fields }: FieldsKey): number {
  return fields.length <= 2 ? 150_000 : 20_000;
}

/** @param rows of the scope of the gap */
function toPieces({ step, pieces }: Gap, rows: readonly KeptRow[]): KeptPiece[] {
  const nameOf = (part: string, tick: number | undefined) => `${part} ${tick ?? 'all'}`;
  const groups = new Map<string, KeptGroup[]>();
  for (const [part, streamId, values, ticks] of rows) {
    for (let from = 0, until; from < ticks.length; from = until) {
      const tick = step === undefined ? undefined : floorTo(ticks[from]!, step);
      const last = tick === undefined ? Infinity : tick + step! - 1;
      until = indexAfter(ticks, last, from, ticks.length);
      const name = nameOf(part, tick);
      const own = groups.get(name) ?? [];
      groups.set(name, own);
      own.push([streamId, values, ticks.subarray(from, until)]);
    }
  }
  return pieces.map((piece) => {
    return { ...piece, rows: toGroupedTicks(groups.get(nameOf(piece.part, piece.tick)) ?? []) };
  });
}
