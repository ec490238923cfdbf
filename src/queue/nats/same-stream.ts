/**
 * Tells whether a stream is still the one that was read: it may have been made anew, and a server
 * that lost power, or was given an older copy of its folder, may have lost the end of it and give
 * the same numbers out again.
 */
import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsLink } from './connection.ts';
import type { StreamPlace } from './message-book.ts';
import { parseStreamTime } from './stream-clock.ts';

export interface ReadStream {
  readonly shard: number;
  /** As `QueueNames.shardName`. */
  readonly shardName: string;
  /** The last message that was read. */
  readonly last: StreamPlace;
}

/** Also asks for the last message that was read. @throws Error where there is no answer */
export async function isSameStream(link: NatsLink, read: ReadStream): Promise<boolean> {
  const { streams } = link.manager;
  const name = link.names.stream(read.shard);
  const { sequence, timeNanos } = read.last;
  if (!mayBeSame(link, read, await streams.info(name))) return false;
  if (sequence === 0) return true;
  const found = await streams.getMessage(name, { seq: sequence });
  // Gone as it should be, then: had its number been given out again, it would be there.
  return found === null || parseStreamTime(found.timestamp) === timeNanos;
}

/** What a stream tells of itself: numbers only grow, unless it has lost its end. */
export function mayBeSame(
  { names }: Pick<NatsLink, 'names'>,
  { shard, shardName, last }: ReadStream,
  { created, state }: Pick<StreamInfo, 'created' | 'state'>,
): boolean {
  return names.shardName(shard, created) === shardName && state.last_seq >= last.sequence;
}
