/**
 * What every node must hear of: that labels of series may be gone. It stands in a bucket, so that a
 * node that was cut off meanwhile finds it afterwards.
 */
import { randomBase32 } from '../../std/random-id.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';

export interface SeriesSignal {
  /** Calls our own listeners at once. @throws AppError `unavailable` */
  raise(): Promise<void>;
  listen(listener: () => void): void;
  /** Looks whether it was raised since the last look. @throws AppError `unavailable` */
  look(): Promise<void>;
}

const key = 'series';

/**
 * Hears from then on; `look` is to be called now and then, and after every reconnect. The first
 * look may call listeners for what was raised long before: nobody knows yet when that was.
 */
export function createSeriesSignal(
  { connection }: Pick<NatsLink, 'connection'>,
  signals: Pick<Bucket, 'get' | 'put' | 'subject'>,
): SeriesSignal {
  const listeners: (() => void)[] = [];
  /** Made up anew each time, so that nobody hears of the same one by both ways. */
  let heard = '';
  let lookedAt = '';

  const hear = (value: string): void => {
    if (value === heard) return;
    heard = value;
    for (const listener of listeners) listener();
  };
  // What is written into a bucket also goes to whoever is there to hear it, before it is stored.
  connection.subscribe(signals.subject(key), {
    callback: (error, message) => {
      if (error === null) hear(message.string());
    },
  });

  return {
    async raise() {
      const value = randomBase32(26);
      hear(value);
      await signals.put(key, Buffer.from(value));
    },
    listen: (listener) => void listeners.push(listener),
    async look() {
      const entry = await signals.get(key);
      // Not by its revision: these begin anew with the bucket.
      const value = entry?.value.toString() ?? '';
      if (value === lookedAt) return;
      lookedAt = value;
      // Nothing where something was: the bucket was made anew, and what it had told is not known.
      hear(value);
    },
  };
}
