/**
 * Decodes bodies in slices and yields to the event loop between them, so that a large body does not
 * delay other requests. Keeps working memory from body to body.
 */
import { setImmediate } from 'node:timers/promises';
import type { Batch } from '../model/batch.ts';

/** Bytes that most decoders decode without yielding. */
export const sliceBytes = 512 * 1024;

/** Work that yields between slices. @throws AppError; then nothing of the body may be stored */
export type Slices<Result> = Generator<undefined, Result>;

interface Workspace {
  /** Called after each body, decoded or failed. */
  clear(): void;
}

/** Idle workspaces kept. A busier process allocates further ones for the time of a body. */
const maxIdle = 4;

/**
 * @returns a function that decodes one body: synchronously if it takes one slice. A body must not
 *   change until its batch is returned.
 */
export function createSlicedDecoder<W extends Workspace>(
  createWorkspace: () => W,
): (decode: (workspace: W) => Slices<Batch>) => Batch | Promise<Batch> {
  const idle: W[] = [];

  function release(workspace: W): void {
    workspace.clear();
    if (idle.length < maxIdle) idle.push(workspace);
  }

  async function finishInTurns(slices: Slices<Batch>, workspace: W): Promise<Batch> {
    try {
      for (;;) {
        await setImmediate();
        const { done, value } = slices.next();
        if (done) return value;
      }
    } finally {
      release(workspace);
    }
  }

  return (decode) => {
    const workspace = idle.pop() ?? createWorkspace();
    let isDone = true;
    try {
      const slices = decode(workspace);
      const { done, value } = slices.next();
      isDone = done === true;
      return done ? value : finishInTurns(slices, workspace);
    } finally {
      if (isDone) release(workspace);
    }
  };
}
