/** Settings of the store: the embedded engine, or a ClickHouse server or cluster. */
import { z } from 'zod';
import { gibibyte, integer, mebibyte, section, text } from './schema-parts.ts';

export const storeSection = section({
  url: text(
    'url',
    '',
    'A ClickHouse server, or what balances over a cluster, as http://host:8123 or https://; ' +
      'empty = the embedded engine.',
  ),
  user: text(undefined, 'default', 'User at that server.'),
  password: text(undefined, '', 'Password at that server.'),
  caFile: text('path', '', 'Authority in PEM to trust for https:// besides the usual ones.'),
  database: text(undefined, 'weir', 'Database that holds the tables.'),
  cluster: text(
    undefined,
    '',
    'Name of the cluster as ClickHouse knows it: tables are then replicated and distributed over ' +
      'it; empty = a single server.',
  ),
  insertQuorum: z
    .string()
    .regex(/^(auto|\d{1,3})$/, 'must be auto or a number')
    .default('auto')
    .meta({
      description:
        'Replicas that must have an insert before it counts, of a cluster; auto = most of them, ' +
        '0 = one.',
    }),
  storagePolicy: text(
    undefined,
    '',
    'Storage policy of the tables at that server; empty = its default.',
  ),
  coldVolume: text(
    undefined,
    '',
    'Volume of that policy that old days move to, such as one on S3.',
  ),
  coldAfterDays: integer('d', 7, 1, 36_500, 'Age at which days move to the cold volume.'),
  maxDiskBytes: integer(
    'bytes',
    0,
    0,
    1024 * 1024 * gibibyte,
    'Size of the tables at which the oldest day is dropped; 0 = no cap.',
  ),
  scrubDays: integer(
    'd',
    7,
    0,
    3650,
    'The checksums of all stored data are verified this often, and after each start, while few ' +
      'events arrive; 0 = never. Clusters verify their replicas themselves.',
  ),
  queryTimeoutSeconds: integer(
    's',
    30,
    1,
    3600,
    'Longest a read may take; beyond it the answer is 503.',
  ),
  queryMemoryBytes: integer(
    'bytes',
    320 * mebibyte,
    16 * mebibyte,
    256 * gibibyte,
    'Most memory one read may take; beyond it the answer is 503.',
  ),
  maxConcurrentReads: integer(
    'count',
    0,
    0,
    1000,
    'Statements of reads that run at once, half of them, rounded up, for one account; others ' +
      'wait, and after 15 s the answer is 503; 0 = 3 on the embedded engine, 32 on a server.',
  ),
});
