/**
 * The connection between the main process and one of its workers: questions and answers both ways,
 * many under way at a time. What can be asked stands in `questions.ts`.
 */
import type { Duplex } from 'node:stream';
import { AppError } from '../model/errors.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import { decodeFault, encodeFault } from './faults.ts';
import { encodeFrame, type Frame, frameKinds, FrameReader } from './frames.ts';

/** What one side can be asked, by name: values that JSON can carry. */
export type Questions = Readonly<
  Record<string, { readonly ask: unknown; readonly answer: unknown }>
>;

/**
 * The answers to them. @param tail bytes that came with the question, now the answerer's own
 * @throws AppError, which reaches the asker as it is; anything else is a bug of this side
 */
export type Answers<Asked extends Questions> = {
  readonly [Name in keyof Asked]: (
    ask: Asked[Name]['ask'],
    tail: Buffer,
  ) => Asked[Name]['answer'] | Promise<Asked[Name]['answer']>;
};

export interface Channel<Asked extends Questions> {
  /**
   * @param tail bytes that go along. They belong to the channel from now on, which frees their
   *   memory once they are sent.
   * @throws AppError of the other side, or `unavailable` once it is gone
   */
  ask<Name extends keyof Asked & string>(
    name: Name,
    ask: Asked[Name]['ask'],
    tail?: Uint8Array,
  ): Promise<Asked[Name]['answer']>;
  /** As `ask`, but nobody waits, and nobody hears of it where the other side is gone. */
  tell<Name extends keyof Asked & string>(name: Name, ask: Asked[Name]['ask']): void;
  /** Resolves once nothing more comes; what this side was asked may still be under way. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(fault: unknown): void;
}

const noTail = Buffer.alloc(0);
const maxId = 2 ** 32 - 1;

/** @param stream to the other process; the channel's own from now on. */
export function openChannel<Own extends Questions, Asked extends Questions>(
  stream: Duplex,
  answers: Answers<Own>,
): Channel<Asked> {
  const waiting = new Map<number, Waiting>();
  const closed = Promise.withResolvers<void>();
  const send = createSend(stream);
  let lastId = 0;

  /** The answer as a promise, whatever goes wrong on the way to it. */
  async function answerTo(text: string, tail: Buffer): Promise<unknown> {
    const [name, ask] = JSON.parse(text) as [string, unknown];
    const answer = answers[name];
    if (answer === undefined) throw new Error(`cannot answer to ${name}: it is unknown here`);
    return answer(ask, tail);
  }

  function begin({ kind, id, text, tail }: Frame): void {
    const mustAnswer = kind === frameKinds.question;
    void answerTo(text, tail).then(
      (answer) => {
        if (mustAnswer) send(frameKinds.answer, id, JSON.stringify(answer ?? null));
      },
      (fault: unknown) => {
        if (mustAnswer) send(frameKinds.fault, id, encodeFault(fault));
      },
    );
  }

  function take(frame: Frame): void {
    const asker = waiting.get(frame.id);
    if (frame.kind === frameKinds.question || frame.kind === frameKinds.told) {
      begin(frame);
    } else if (asker !== undefined) {
      waiting.delete(frame.id);
      if (frame.kind === frameKinds.answer) asker.resolve(JSON.parse(frame.text));
      else asker.reject(decodeFault(frame.text));
    }
  }

  const reader = new FrameReader();
  stream.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk, take);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  // The close that follows says all there is to say.
  stream.on('error', () => {});
  stream.on('end', () => stream.destroy());
  stream.once('close', () => {
    closed.resolve();
    // A worker whose main process is gone ends first: a refusal would tell senders that their
    // batches are not stored, which is unknown.
    setImmediate(() => {
      for (const { reject } of waiting.values()) reject(gone());
      waiting.clear();
    });
  });

  return {
    ask(name, ask, tail = noTail) {
      if (stream.destroyed) return Promise.reject(gone());
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      do lastId = lastId === maxId ? 1 : lastId + 1;
      while (waiting.has(lastId));
      waiting.set(lastId, { resolve, reject });
      send(frameKinds.question, lastId, JSON.stringify([name, ask]), tail);
      return promise;
    },
    tell: (name, ask) => send(frameKinds.told, 0, JSON.stringify([name, ask])),
    closed: closed.promise,
    close: () => stream.destroy(),
  };
}

type Send = (kind: number, id: number, text: string, tail?: Uint8Array) => void;

/** Everything that is sent in one turn leaves in one system call. */
function createSend(stream: Duplex): Send {
  let isCorked = false;
  const uncork = () => {
    isCorked = false;
    stream.uncork();
  };
  return (kind, id, text, tail = noTail) => {
    if (stream.destroyed) return;
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(uncork);
    }
    stream.write(encodeFrame({ kind, id, text }, tail.length));
    if (tail.length > 0) stream.write(tail, () => freeMemory([ownMemory(tail)]));
  };
}

function gone(): AppError {
  return new AppError('unavailable', 'cannot take the request now: send it again', {
    cause: new Error('the process that was asked is gone'),
    retryAfterSeconds: 1,
  });
}
