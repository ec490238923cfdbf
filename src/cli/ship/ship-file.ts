/** Ships one file: reads a batch after the checkpoint, sends it, moves the checkpoint. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../std/error-text.ts';
import type { OutgoingEvent } from '../sending/batcher.ts';
import type { Checkpoints, FilePosition } from './checkpoints.ts';
import {
  type ContainerFormat,
  type JoinedLine,
  joinLines,
  type Matcher,
  type SourceLine,
  takeComplete,
} from './shipped-line.ts';
import { hasHead, idAt, maxReadBytes, type TailedFile } from './tailed-file.ts';

export interface FileOptions {
  readonly format: ContainerFormat;
  readonly start: Matcher | undefined;
  /** Gives nothing for a blank line. */
  readonly toEvents: (line: JoinedLine, position: FilePosition) => OutgoingEvent[];
  readonly send: Send;
  /** How long a file that does not grow may hold an unfinished event. */
  readonly lingerMs: number;
  /** Whether a last line that nothing ends is sent too. */
  readonly isEnding: boolean;
  readonly warn: (sentence: string) => void;
}

/**
 * Resolves once the events are accepted or rejected.
 * @param origin the same for a repetition, and for no other events
 */
export type Send = (events: readonly OutgoingEvent[], origin: string) => Promise<void>;

interface ReadLines {
  readonly lines: readonly SourceLine[];
  /** Events of these lines that can be sent. */
  readonly batch: readonly JoinedLine[];
}

const maxEvents = 1000;
/** After a rotation the writer may still have the file open. */
const rotatedMs = 10_000;

export class ShippedFile {
  readonly file: TailedFile;
  readonly #position: FilePosition;
  readonly #checkpoints: Checkpoints;
  readonly #options: FileOptions;
  /** When it was last read; before, -1. */
  #size = -1;
  #grownAt = performance.now();
  #isUnreadable = false;

  constructor(
    file: TailedFile,
    position: FilePosition,
    checkpoints: Checkpoints,
    options: FileOptions,
  ) {
    this.file = file;
    this.#position = position;
    this.#checkpoints = checkpoints;
    this.#options = options;
  }

  /** Whether everything is sent, and the file has had another name, or none, for a while. */
  get isDone(): boolean {
    return this.isSent && this.#idleMs() > rotatedMs && this.#isRotated();
  }

  get isSent(): boolean {
    return this.#size >= 0 && this.#position.offset >= this.#size;
  }

  /** Whether the last attempt to read it failed. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Sends the next batch. @returns whether there was one */
  async step(): Promise<boolean> {
    const position = this.#position;
    const { lines, batch } = this.#readNext();
    if (batch.length === 0) return false;
    const { offset, pending } = position;
    const end = Math.max(...batch.map((line) => line.end));
    const events = batch.flatMap((line) => this.#options.toEvents(line, position));
    if (pending === undefined) {
      position.pending = end;
      this.#checkpoints.save();
    }
    if (events.length > 0) await this.#options.send(events, `${position.epoch}:${offset}`);
    position.offset = end;
    if (position.lines !== undefined) {
      position.lines += lines.filter((line) => line.end <= end).length;
    }
    delete position.pending;
    return true;
  }

  /** A failure is reported once; the next step tries again. */
  #readNext(): ReadLines {
    const nothing = { lines: [], batch: [] };
    const position = this.#position;
    try {
      this.#look();
      const { offset, pending } = position;
      const until = pending ?? this.#size;
      const read = offset < until ? this.#read(offset, until) : nothing;
      this.#isUnreadable = false;
      return read;
    } catch (error) {
      if (!this.#isUnreadable) {
        this.#options.warn(`cannot read ${position.path}, trying again: ${messageOf(error)}`);
      }
      this.#isUnreadable = true;
      return nothing;
    }
  }

  /** A file that was truncated, and perhaps filled again, is read from its start. */
  #look(): void {
    const size = this.file.size();
    if (size === this.#size) return;
    const position = this.#position;
    if (size < position.offset || !hasHead(this.file, position.head)) {
      this.#options.warn(`${position.path} was truncated: reading it from the start`);
      position.offset = 0;
      position.lines = 0;
      position.epoch = randomUUID();
      delete position.pending;
    }
    position.head = this.file.head(size);
    this.#size = size;
    this.#grownAt = performance.now();
  }

  #read(from: number, until: number): ReadLines {
    const { format, start, lingerMs, isEnding } = this.#options;
    const isIdle = this.#idleMs() > lingerMs;
    const isRepeated = this.#position.pending !== undefined;
    const takesRest = isRepeated || (isIdle && (isEnding || this.#isRotated()));
    const lines = this.file.lines(from, until, takesRest);
    const joined = joinLines(lines, { format, start });
    const isFinal = isRepeated || (isIdle && until - from <= maxReadBytes);
    const batch = takeComplete(joined, { maxEvents, isFinal });
    // One event may fill all that is read at once.
    const isFull = batch.length === 0 && until - from >= maxReadBytes;
    return { lines, batch: isFull ? joined : batch };
  }

  #isRotated(): boolean {
    try {
      return idAt(this.#position.path) !== this.file.id;
    } catch {
      // Its folder is not readable now.
      return false;
    }
  }

  #idleMs(): number {
    return performance.now() - this.#grownAt;
  }
}
