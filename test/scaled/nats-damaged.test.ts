/** Changes to single parts of the folder of NATS. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import {
  cutEnd,
  putBack,
  putConsumerStatesBack,
  putIndexBack,
  putMessagesBack,
  removeConsumerStates,
  removeIndex,
} from './nats-changes.ts';
import {
  bucketStreams,
  comesBack,
  isChanged,
  isKilledInARow,
  shardStreams,
} from './nats-recoveries.ts';
import { missingNats } from './nats-server.ts';

type Change = (folder: string, copy: string) => void;

const changes: Readonly<Record<string, Change>> = {
  'older streams': (folder, copy) => putBack(folder, copy, shardStreams),
  'older leases': (folder, copy) => putBack(folder, copy, ['KV_weir_leases']),
  'older keys and signals': (folder, copy) =>
    putBack(folder, copy, ['KV_weir_keys', 'KV_weir_signals']),
  'messages older than what consumers know': (folder, copy) =>
    putMessagesBack(folder, copy, shardStreams),
  // Without the existing index: nats-server 2.9.10 would follow its outdated list of removed
  // messages, and in one run of ten lose messages that it acknowledges under the same sequences.
  'no index, and an empty last block': (folder) => {
    cutEnd(folder, shardStreams, 0);
    removeIndex(folder, shardStreams);
  },
  'no index': (folder) => removeIndex(folder, shardStreams),
  'an older index': (folder, copy) => putIndexBack(folder, copy, shardStreams),
  'no index, and blocks that are cut': (folder) => {
    cutEnd(folder, shardStreams, 0.7);
    removeIndex(folder, shardStreams);
  },
  'no messages': (folder) => {
    for (const name of shardStreams) rmSync(join(folder, name, 'msgs'), { recursive: true });
  },
  'consumers that know nothing': (folder) => removeConsumerStates(folder, shardStreams),
  'consumers that know less': (folder, copy) => putConsumerStatesBack(folder, copy, shardStreams),
  nothing: (folder) => rmSync(folder, { recursive: true }),
};

suite('a NATS that comes back with', { skip: missingNats() }, () => {
  for (const [name, change] of Object.entries(changes)) test(name, () => comesBack(change));
});

suite('a running NATS that loses', { skip: missingNats() }, () => {
  for (const [what, names] of Object.entries({
    'the streams of the shards': shardStreams,
    'the leases': ['KV_weir_leases'],
    'streams and buckets': [...shardStreams, ...bucketStreams, 'weir_quarantine'],
  })) {
    test(what, () =>
      isChanged((streams) => Promise.all(names.map((name) => streams.delete(name)))),
    );
  }
});

suite('NATS killed', { skip: missingNats() }, () => {
  test('twenty times in a row', () => isKilledInARow(20));
});
