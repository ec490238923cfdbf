/** The clock of a shard: the times of its messages. */
import { AppError } from '../../model/errors.ts';
import type { NatsLink } from './connection.ts';
import { queueUnavailable } from './faults.ts';
import type { ShardWriter } from './shard-writer.ts';

const nanosPerSecond = 1_000_000_000n;
const nanosPerMs = 1_000_000n;

/** How far a shard's clock may go back with another stream leader. */
const skewNanos = 1_000_000_000n;
const shortestPauseMs = 5;

/** @param text RFC 3339 with up to nine digits of a second. @returns Unix ns */
export function parseStreamTime(text: string): bigint {
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? '';
  const seconds = BigInt(Math.floor(Date.parse(text.replace(/\.\d+/, '')) / 1000));
  return seconds * nanosPerSecond + BigInt(fraction.padEnd(9, '0'));
}

/** The last whole millisecond of the second in which `nanos` lies, or of the next one. Unix ns. */
export function endOfSecond(nanos: bigint): bigint {
  return ((nanos + nanosPerMs - 1n) / nanosPerSecond + 1n) * nanosPerSecond - nanosPerMs;
}

/**
 * The time of a message that is published after the call, or of a later one. Unix ns.
 * @throws AppError `unavailable`
 */
export async function readShardTime(
  { manager, names }: NatsLink,
  writer: Pick<ShardWriter, 'tick'>,
  shard: number,
): Promise<bigint> {
  try {
    await writer.tick();
    // The tick may have been drained already.
    const { state } = await manager.streams.info(names.stream(shard));
    return parseStreamTime(state.last_ts);
  } catch (cause) {
    throw cause instanceof AppError ? cause : queueUnavailable(cause);
  }
}

/**
 * Chooses a time later than all messages so far and waits until every shard's clock has passed it.
 * @param readTime of one shard, as `readShardTime`
 * @returns Unix ns, the last whole millisecond of a second
 */
export async function drawLineThrough(
  shards: readonly number[],
  readTime: (shard: number) => Promise<bigint>,
  sleepMs: (ms: number) => Promise<unknown>,
): Promise<bigint> {
  const times = await Promise.all(shards.map(readTime));
  const line = endOfSecond(times.reduce((a, b) => (a > b ? a : b), 0n) + skewNanos);
  const nextSecond = line + nanosPerMs;
  await Promise.all(
    shards.map(async (shard, index) => {
      for (let time = times[index]!; time < nextSecond; time = await readTime(shard)) {
        await sleepMs(Math.max(Number((nextSecond - time) / nanosPerMs), shortestPauseMs));
      }
    }),
  );
  return line;
}
