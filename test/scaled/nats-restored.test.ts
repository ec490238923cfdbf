/** NATS comes back with less than it had, or is robbed of it while it runs. */
import { suite, test } from 'node:test';
import { cutEnd, putBack, removeConsumers } from './nats-changes.ts';
import { bucketStreams, comesBack, isChanged, shardStreams } from './nats-comebacks.ts';
import { missingNats } from './nats-server.ts';

suite('a NATS that is no longer what it was', { skip: missingNats() }, () => {
  test('put back to an older copy', () =>
    comesBack((folder, copy) => putBack(folder, copy, [...shardStreams, ...bucketStreams])));

  test('without the end of its messages, as after a power cut', () =>
    comesBack((folder) => cutEnd(folder, shardStreams, 0.8)));

  test('without its consumers', () => comesBack((folder) => removeConsumers(folder, shardStreams)));

  test('without its buckets, while all runs', () =>
    isChanged((streams) => Promise.all(bucketStreams.map((name) => streams.delete(name)))));
});
