/** NATS restored with less data, or losing data while it runs. */
import { suite, test } from 'node:test';
import { cutEnd, putBack, removeConsumers } from './nats-changes.ts';
import { bucketStreams, comesBack, isChanged, shardStreams } from './nats-recoveries.ts';
import { missingNats } from './nats-server.ts';

suite('NATS restored', { skip: missingNats() }, () => {
  test('from an older copy', () =>
    comesBack((folder, copy) => putBack(folder, copy, [...shardStreams, ...bucketStreams])));

  test('without its last messages, as after a power cut', () =>
    comesBack((folder) => cutEnd(folder, shardStreams, 0.8)));

  test('without its consumers', () => comesBack((folder) => removeConsumers(folder, shardStreams)));

  test('without its buckets, while running', () =>
    isChanged((streams) => Promise.all(bucketStreams.map((name) => streams.delete(name)))));
});
