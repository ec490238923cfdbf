/** Settings of the quota store that several gateways share. */
import { z } from 'zod';
import { integer, list, section, text } from './schema-parts.ts';

export const quotaSection = section({
  urls: list(
    'Redis or Valkey in which all gateways count quotas, as redis://host:6379 or rediss://; list ' +
      'several nodes of a cluster; empty = each gateway counts separately.',
  ),
  topology: z.enum(['single', 'cluster']).default('single').meta({
    description: 'One server, or a Redis Cluster.',
  }),
  user: text(undefined, '', 'Redis user; empty = the one in the URL, or the default user.'),
  password: text(undefined, '', 'Redis password; empty = the one in the URL.'),
  caFile: text(
    'path',
    '',
    'Certificate authority in PEM for rediss://, in addition to the system ones.',
  ),
  timeoutMs: integer(
    'ms',
    250,
    10,
    10_000,
    'Timeout of one quota check; then the response is 503 and the connection is closed.',
  ),
});
