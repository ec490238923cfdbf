/**
 * Keeps a writer's board up to date with the bucket of the leases: what is written there is heard
 * at once, and everything is looked at now and then, since what is heard may be lost.
 */
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';
import { decodeLease, type LeaseBoard } from './lease-board.ts';

/** What stands under the key of a writer. */
export const presence = { here: 'here', left: 'left' } as const;

export interface LeaseWatch {
  /** True once all entries were looked at. */
  ready(): boolean;
  /** Looks at everything. @throws AppError `unavailable` */
  look(): Promise<void>;
  close(): void;
}

export interface LeaseWatchParts {
  readonly link: NatsLink;
  readonly leases: Pick<Bucket, 'get' | 'subject'>;
}

/**
 * @param me id of this writer, whose own entries need no look
 * @param changed called after something was heard and looked at
 */
export function watchLeases(
  { link, leases }: LeaseWatchParts,
  board: LeaseBoard,
  me: string,
  changed: () => void,
): LeaseWatch {
  const { connection, manager, names, options } = link;
  const stream = `KV_${names.leases}`;
  const prefix = leases.subject('');
  let isReady = false;

  // Whatever is written into a bucket also goes to those who are there to hear it.
  const subscription = connection.subscribe(leases.subject('>'), {
    callback(error, message) {
      if (error !== null) return;
      const key = message.subject.slice(prefix.length);
      const isOwn = key === `writer.${me}` || decodeLease(message.data).holder === me;
      // It may not be stored yet, or never be: only what can be read counts.
      if (!isOwn) void lookAt(key).then(changed, () => undefined);
    },
  });

  async function lookAt(key: string): Promise<void> {
    const [kind, name = ''] = key.split('.');
    const entry = await leases.get(key);
    // The later, the safer: it is counted from here that it does not change.
    const nowMs = performance.now();
    if (kind === 'writer') {
      const hasLeft = entry?.value.toString() === presence.left;
      board.seeWriter(name, hasLeft ? undefined : entry?.revision, nowMs);
    } else if (kind === 'shard') {
      const found = entry && { revision: entry.revision, value: decodeLease(entry.value) };
      board.seeShard(Number(name), found, nowMs);
    }
  }

  async function look(): Promise<void> {
    const filter = leases.subject('writer.*');
    const info = await manager.streams.info(stream, { subjects_filter: filter });
    const writers = Object.keys(info.state.subjects ?? {}).map((it) => it.slice(prefix.length));
    const shards = Array.from({ length: options.shards }, (_, shard) => `shard.${shard}`);
    const keys = [...shards, ...writers.filter((key) => key !== `writer.${me}`)];
    await Promise.all(keys.map(lookAt));
    for (const id of board.forgottenWriters(performance.now())) {
      const subject = leases.subject(`writer.${id}`);
      await manager.streams.purge(stream, { filter: subject });
      board.seeWriter(id, undefined, performance.now());
    }
    isReady = true;
  }

  return { ready: () => isReady, look, close: () => subscription.unsubscribe() };
}
