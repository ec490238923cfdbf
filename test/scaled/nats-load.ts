/** Load on a queue at NATS, and which batches were acknowledged. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/model/errors.ts';
import type { Queue } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { owner, toBatch } from './nats-queues.ts';

export interface Load {
  readonly acknowledged: string[];
  readonly refused: string[];
  /** Resolves when all appends have ended. */
  stop(): Promise<void>;
}

/** Senders that append batches, some of them large, until stopped. */
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

/** Waits for so many more acknowledgements. */
export const grew = (load: Load, by: number) => {
  const goal = load.acknowledged.length + by;
  return until(() => load.acknowledged.length >= goal, { what: `${by} more acknowledgements` });
};

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}
