/**
 * Two readers that want every log once: one polls the list with `since`, one follows the live tail;
 * both resume after every error.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cursor, LogPage, Service } from '../harness/service.ts';
import { openTail, type TailClient } from '../stream/tail-client.ts';

export interface Follower {
  /** Count by message. */
  readonly got: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const retryMs = 200;

/** Starts after `newest` of the current list. */
export async function pollSince(service: Service): Promise<Follower> {
  const got = new Map<string, number>();
  let position: Cursor = (await service.list({ limit: 1 })).newest;
  let isStopping = false;
  const polling = (async () => {
    while (!isStopping) {
      const since = `${position.timestamp},${position.logId}`;
      const answer = await service.read('/logs', { limit: 1000, since }).catch(() => undefined);
      if (answer?.status === 200) {
        const { logs, cursor } = answer.json<LogPage>();
        for (const { message } of logs) got.set(message, (got.get(message) ?? 0) + 1);
        position = cursor;
      } else {
        assert.equal(answer?.status ?? 503, 503, answer?.text ?? '');
      }
      await sleep(retryMs);
    }
  })();
  return {
    got,
    async stop() {
      isStopping = true;
      await polling;
    },
  };
}

export interface TailFollower extends Follower {
  /** Heartbeats of all connections. */
  heartbeats(): number;
  /** How connections ended unless closed by the test: with an `error` event, or broken. */
  readonly ends: readonly string[];
}

/** Starts now. */
export async function followTail(service: Service): Promise<TailFollower> {
  const got = new Map<string, number>();
  const ends: string[] = [];
  let heartbeats = 0;
  let isStopping = false;
  let taken = 0;
  // Nothing is dropped in an outage, which lasts longer than usual on a busy machine.
  const parameters = { maxLagSeconds: 300 };
  let tail: TailClient = await openTail(service, { parameters });
  const { id } = await tail.first('open');
  let lastEventId = id;

  const take = (): void => {
    const fresh = tail.events.slice(taken);
    taken += fresh.length;
    for (const { name, id: place, data } of fresh) {
      assert.notEqual(name, 'dropped', 'the tail is missing logs');
      if (name === 'heartbeat') heartbeats += 1;
      if (name === 'log') {
        const message = String(data['message']);
        got.set(message, (got.get(message) ?? 0) + 1);
      }
      if (place !== '') lastEventId = place;
    }
  };
  const following = (async () => {
    while (!isStopping) {
      take();
      if (tail.end !== undefined) {
        take();
        if (tail.status === 200) ends.push(tail.named('error').length > 0 ? 'error' : tail.end);
        else assert.equal(tail.status, 503, tail.text);
        await sleep(retryMs);
        tail = await openTail(service, { parameters, lastEventId });
        taken = 0;
      }
      await sleep(50);
    }
    tail.leave();
  })();
  return {
    got,
    ends,
    heartbeats: () => heartbeats,
    async stop() {
      isStopping = true;
      await following;
    },
  };
}
