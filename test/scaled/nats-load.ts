/** Load on a queue at NATS, as hard as it goes, and what became of it. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/model/errors.ts';
import type { Queue } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { owner, toBatch } from './nats-queues.ts';

export interface Load {
  readonly acknowledged: string[];
  readonly refused: string[];
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/** Senders that append one batch after the other, now and then a large one, until stopped. */
export function startLoad(queue: Queue, senders: number, name = ''): Load {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let isStopped = false;
  const send = async (sender: number): Promise<void> => {
    for (let number = 0; !isStopped; number++) {
      const text = `${name}${sender}/${number}`;
      try {
        await queue.append(toBatch(text, number % 25 === 9 ? 1_500_000 : 500), owner);
        acknowledged.push(text);
      } catch (error) {
        assert.ok(isUnavailable(error), String(error));
        refused.push(text);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const all = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  return {
    acknowledged,
    refused,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}

/** Resolves when so many more were acknowledged. */
export const grew = (load: Load, by: number) => {
  const goal = load.acknowledged.length + by;
  return until(() => load.acknowledged.length >= goal, { what: `${by} more acknowledgements` });
};

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}
