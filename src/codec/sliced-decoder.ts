/**
 * Decodes bodies in slices and yields to the event loop between them, so that a large body does not
 * delay other requests. Keeps working memory from body to body.
 */
import type { Batch } from '../model/batch.ts';

/** Bytes that most decoders decode without yielding. */
export const sliceBytes = 512 * 1024;

/** One body being decoded. */
export interface Decoding {
  /**
   * Decodes one slice.
   * @returns true once the body is done
   * @throws AppError; then nothing of the body may be stored
   */
  run(): boolean;
  /** The batch of the whole body. @throws AppError */
  finish(): Batch;
}

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
): (start: (workspace: W) => Decoding) => Batch | Promise<Batch> {
  const idle: W[] = [];

  function release(workspace: W): void {
    workspace.clear();
    if (idle.length < maxIdle) idle.push(workspace);
  }

  async function finishInTurns(decoding: Decoding, workspace: W): Promise<Batch> {
    try {
      do await new Promise<void>((resolve) => setImmediate(resolve));
      while (!decoding.run());
      return decoding.finish();
    } finally {
      release(workspace);
    }
  }

  return (start) => {
    const workspace = idle.pop() ?? createWorkspace();
    let isDone = true;
    try {
      const decoding = start(workspace);
      isDone = decoding.run();
      return isDone ? decoding.finish() : finishInTurns(decoding, workspace);
    } finally {
      if (isDone) release(workspace);
    }
  };
}
