/**
 * Positions up to which files and the journal are sent, in one file that is replaced atomically.
 * The end of a batch is durable before the batch is sent, so that after a crash the same bytes
 * become the same request, with the same idempotency key.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAbsent, replaceTextFile } from '../../files/atomic-file.ts';

export interface FilePosition {
  path: string;
  /** New for each content of the file; part of the keys of its requests. */
  epoch: string;
  /** SHA-256 of the first bytes: an inode may be used again, or truncated and filled. */
  head: { bytes: number; digest: string };
  /** Everything before is sent. */
  offset: number;
  /** Lines before the offset; absent where reading did not begin at the start. */
  lines?: number;
  /** End of the batch that is being sent; absent = none. */
  pending?: number;
}

interface State {
  version: 1;
  /** By device and inode. */
  files: Record<string, FilePosition>;
  journal?: { after: string | null; pending?: string };
}

export interface Checkpoints {
  readonly state: State;
  /** Returns once the present state is durable. */
  save(): void;
}

/** @throws Error for a file of another form */
export function openCheckpoints(folder: string): Checkpoints {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'checkpoints.json');
  const state = read(file);
  let saved = '';
  return {
    state,
    save() {
      const text = JSON.stringify(state);
      // While nothing is written to the files, no disk is woken.
      if (text === saved) return;
      replaceTextFile(file, text);
      saved = text;
    },
  };
}

function read(file: string): State {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as State;
    if (state.version === 1) return state;
  } catch (cause) {
    if (isAbsent(cause)) return { version: 1, files: {} };
    throw new Error(`cannot read the checkpoints ${file}: delete it to send all files again`, {
      cause,
    });
  }
  throw new Error(`cannot read the checkpoints ${file}: another version of weir wrote it`);
}
