/** The contract of a queue, for the queue at NATS. */
import { after, before, suite } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { createQueueNames } from '../../src/queue/nats/connection.ts';
import { testQueueContract } from '../queue/contract.ts';
import { type QuarantinePlace, testQuarantine } from '../queue/quarantine-contract.ts';
import { openQueue, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer } from './nats-server.ts';

suite('the queue at NATS', { skip: missingNats() }, () => {
  let server: NatsServer;
  let places = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server?.stop());

  const createPlace = async (): Promise<QuarantinePlace> => {
    const options = toOptions([server.url], { prefix: `c${places++}`, shards: 3 });
    return {
      shards: options.shards,
      open: () => openQueue(options),
      async putUnreadable() {
        const connection = await connect({ servers: [server.url] });
        connection.publish(createQueueNames(options.prefix).quarantineSubject, 'x');
        await connection.drain();
      },
      // They go with the server.
      remove: async () => {},
    };
  };
  testQueueContract(createPlace);
  testQuarantine(createPlace);
});
