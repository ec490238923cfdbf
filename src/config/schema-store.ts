/** Settings of the store: the embedded engine, or a ClickHouse server or cluster. */
import { gibibyte, integer, mebibyte, section, text, textOf, webUrl } from './schema-parts.ts';

export const storeSection = section({
  url: webUrl('http://clickhouse.example.com:8123', 'http', 'https').describe(
    'URL of a ClickHouse server, or of a load balancer for a cluster, http:// or https://; ' +
      'empty = the embedded engine.',
  ),
  user: text('default').describe('User at the server.'),
  password: text().describe('Password at the server.'),
  caFile: text('', 'path').describe(
    'PEM file of the certificate authority for https://; empty = those of Node.',
  ),
  database: text('weir').describe('Database that holds the tables.'),
  cluster: text().describe(
    'Name of the cluster in the configuration of ClickHouse, over which tables are then ' +
      'replicated and distributed; empty = a single server.',
  ),
  insertQuorum: textOf(
    (value) => /^(auto|\d{1,3})$/.test(value),
    'auto, or a number from 0 to 999',
    'auto',
  ).describe(
    'Replicas of a cluster that must have an insert before it is acknowledged; auto = a ' +
      'majority, 0 = one.',
  ),
  storagePolicy: text().describe(
    'Storage policy of the tables at the server; empty = its default.',
  ),
  coldVolume: text().describe(
    'Volume of the policy to which old days move, such as one on S3; empty = none.',
  ),
  coldAfterDays: integer('d', 7, 1, 36_500).describe('Age at which days move to the cold volume.'),
  maxDiskBytes: integer('bytes', 0, 0, 1024 * 1024 * gibibyte).describe(
    'Size of the tables at which the oldest day is dropped; 0 = no cap.',
  ),
  scrubDays: integer('d', 7, 0, 3650).describe(
    'Interval at which the checksums of all stored data are verified, while few events arrive; ' +
      'also runs once after each start; 0 = never. Clusters verify their replicas themselves.',
  ),
  queryTimeoutSeconds: integer('s', 30, 1, 3600).describe(
    'Time limit of one read; beyond it the response is 503.',
  ),
  queryMemoryBytes: integer('bytes', 320 * mebibyte, 16 * mebibyte, 256 * gibibyte).describe(
    'Memory limit of one read; beyond it the response is 503.',
  ),
  maxConcurrentReads: integer('count', 0, 0, 1000).describe(
    'Concurrent statements of reads, half of them, rounded up, for one account; others wait, ' +
      'and after 15 s the response is 503; 0 = 3 on the embedded engine, 32 on a server. Pages, ' +
      'histograms and facets without a search have as many places beside these.',
  ),
});
