/**
 * Every setting: type, unit, default, bounds and description. Flags, environment variables, keys of
 * the file and the reference in docs/ are derived from this tree.
 */
import { z } from 'zod';
import { ingestSection } from './schema-ingest.ts';
import {
  addressRanges,
  gibibyte,
  integer,
  list,
  mebibyte,
  section,
  text,
  textOf,
  webUrl,
  words,
} from './schema-parts.ts';
import { metricsSection } from './schema-metrics.ts';
import { queueSection } from './schema-queue.ts';
import { forwardSection, gelfSection, statsdSection, syslogSection } from './schema-sockets.ts';
import { storeSection } from './schema-store.ts';

/** The quota store that several gateways share. */
const quotaSection = section({
  urls: list().describe(
    'Redis or Valkey in which all gateways count quotas, as redis://host:6379 or rediss://; list ' +
      'several nodes of a cluster; empty = each gateway counts separately.',
  ),
  topology: z
    .enum(['single', 'cluster'])
    .default('single')
    .describe('One server, or a Redis Cluster.'),
  user: text().describe('Redis user; empty = the one in the URL, or the default user.'),
  password: text().describe('Redis password; empty = the one in the URL.'),
  caFile: text('', 'path').describe(
    'Certificate authority in PEM for rediss://, in addition to the system ones.',
  ),
  timeoutMs: integer('ms', 250, 10, 10_000).describe(
    'Timeout of one quota check; then the response is 503 and the connection is closed.',
  ),
});

export const configSchema = z.strictObject({
  data: text('./data', 'path').describe('Data directory.'),
  roles: words(['gateway', 'stream', 'writer', 'engine']).describe(
    'Roles of this process: gateway ingests, stream serves reads, writer drains the queue, ' +
      'engine runs the embedded store; empty = all, without engine when store.url is set.',
  ),
  workers: integer('count', 1, 1, 256).describe('Ingest processes on this machine; one per core.'),
  shutdownDelaySeconds: integer('s', 0, 0, 300).describe(
    'Delay between the stop signal and the stop: /readyz answers 503, requests are still served, ' +
      'so that a load balancer can remove the node.',
  ),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest level of the log lines that Weir writes to standard error.'),
  ingest: ingestSection,
  syslog: syslogSection,
  forward: forwardSection,
  gelf: gelfSection,
  statsd: statsdSection,
  stream: section({
    host: text().describe('Listen address of the stream port; empty = all interfaces.'),
    port: integer('port', 8444, 0, 65535).describe(
      'TLS port for reads and the control API; 0 = any free port.',
    ),
    publicUrl: webUrl('https://weir.example.com:8444', 'https', 'http').describe(
      'URL of the stream port as readers see it; empty = https://localhost and the port.',
    ),
    maxTails: integer('count', 1000, 0, 100_000).describe(
      'Live tails at once; one account gets at most half. More are refused with 503.',
    ),
    tailHeartbeatMs: integer('ms', 5000, 100, 50_000).describe(
      'Interval of heartbeats on a live tail without logs.',
    ),
    maxExports: integer('count', 8, 1, 1000).describe(
      'Exports of logs at once; one account gets at most half. More are refused with 503.',
    ),
    sessionIdleHours: integer('h', 72, 1, 8760).describe(
      'Time after which an unused session of the explorer ends.',
    ),
    sessionMaxDays: integer('d', 14, 1, 365).describe(
      'Time after which a session of the explorer ends.',
    ),
  }),
  oidc: section({
    issuer: webUrl('https://id.example.com', 'https').describe(
      'OpenID Connect provider that signs people in to the explorer, as https://…; empty = none.',
    ),
    clientId: text().describe('Client id of Weir at the provider.'),
    clientSecret: text().describe('Client secret; empty = a public client.'),
    scopes: text('openid profile email').describe('Requested scopes, separated by spaces.'),
    label: text('single sign-on').describe('Name of the provider on the sign-in page.'),
    grants: list().describe(
      'Rules "claim=value account+account scope+scope", with "all" for all accounts; the first ' +
        'one that matches the identity counts.',
    ),
  }),
  proxy: section({
    host: text('127.0.0.1').describe(
      'Listen address of the plain HTTP ports. They take connections from loopback and ' +
        'ingest.trustedProxies only.',
    ),
    ingestPort: integer('port', 0, 0, 65535).describe(
      'Plain HTTP/1.1 and HTTP/2 port for senders behind a proxy that ends TLS; 0 = none.',
    ),
    streamPort: integer('port', 0, 0, 65535).describe(
      'Plain HTTP/1.1 and HTTP/2 port for readers behind a proxy that ends TLS; 0 = none.',
    ),
    proxyProtocol: z
      .enum(['none', 'required'])
      .default('none')
      .describe(
        'Whether each connection to the plain ports begins with a PROXY protocol header ' +
          '(version 1 or 2) that names the client.',
      ),
  }),
  ops: section({
    host: text('127.0.0.1').describe(
      'Listen address of the operations port (plain HTTP: metrics and health of Weir itself).',
    ),
    port: integer('port', 9464, 0, 65535).describe('Operations port; 0 = any free port.'),
  }),
  tls: section({
    certFile: text('', 'path').describe(
      'Certificate chain in PEM, reloaded when it changes; empty = issued by a local authority.',
    ),
    keyFile: text('', 'path').describe('Private key of the certificate, in PEM.'),
    clientCaFile: text('', 'path').describe(
      'Authorities of client certificates in PEM; then TLS listeners of syslog and of other ' +
        'protocols without HTTP require one. Empty = none.',
    ),
    clientReceivers: list().describe(
      'Receivers of senders with a client certificate, as name=receiver; the name is its common ' +
        'name or a DNS name. A common name that is the id of a receiver needs no entry.',
    ),
  }),
  queue: queueSection,
  drain: section({
    maxRows: integer('rows', 1_000_000, 1, 1_000_000).describe('Rows per insert into the store.'),
    maxBytes: integer('bytes', 32 * mebibyte, mebibyte, gibibyte).describe(
      'Bytes per insert into the store.',
    ),
  }),
  store: storeSection,
  metrics: metricsSection,
  alerts: section({
    allowedNetworks: addressRanges().describe(
      'Address ranges that notifiers of alerts may reach although they are not public, such as ' +
        '10.1.2.0/24; empty = only public addresses.',
    ),
  }),
  engine: section({
    memoryBytes: integer('bytes', 1280 * mebibyte, 256 * mebibyte, 1024 * gibibyte).describe(
      'Memory limit of the embedded engine.',
    ),
    threads: integer('count', 0, 0, 256).describe('Threads per query; 0 = one per core.'),
    host: text('127.0.0.1').describe(
      'Listen address of an engine-only process, which others name as store.url; other than ' +
        'loopback needs store.password.',
    ),
    port: integer('port', 8123, 0, 65535).describe(
      'Port of an engine-only process (plain HTTP); 0 = any free port.',
    ),
  }),
  directory: section({
    url: textOf(
      (value) => value === '' || /^postgres(ql)?:\/\/./.test(value),
      'a URL such as postgres://weir@db.example.com/weir?sslmode=verify-full',
    )
      .meta({ unit: 'url' })
      .describe(
        'PostgreSQL database shared by all nodes, as postgres://user@host/database' +
          '?sslmode=verify-full; empty = SQLite in the data directory.',
      ),
    password: text().describe('PostgreSQL password; overrides the one in the URL.'),
    poolSize: integer('count', 10, 5, 1000).describe('Connections to PostgreSQL.'),
    waitSeconds: integer('s', 30, 0, 3600).describe(
      'How long a start waits for PostgreSQL to answer.',
    ),
    staleForSeconds: integer('s', 60, 0, 3600).describe(
      'How long cached tokens stay valid while the directory is unavailable.',
    ),
  }),
  quota: quotaSection,
  statistics: section({
    retentionDays: integer('d', 7, 1, 90).describe('Retention of receiver statistics.'),
    flushSeconds: integer('s', 5, 1, 60).describe(
      'Interval at which receiver statistics are written; a crash loses at most this much.',
    ),
  }),
});

export type Config = z.infer<typeof configSchema>;
