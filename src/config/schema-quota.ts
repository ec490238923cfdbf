/** Settings of where the levels of quotas are kept, when several gateways share them. */
import { z } from 'zod';
import { integer, list, section, text } from './schema-parts.ts';

export const quotaSection = section({
  urls: list(
    'Redis or Valkey that all gateways count quotas in, as redis://host:6379 or rediss://; of a ' +
      'cluster several nodes; empty = each gateway counts for itself.',
  ),
  topology: z.enum(['single', 'cluster']).default('single').meta({
    description: 'Whether that is one server or a Redis Cluster.',
  }),
  user: text(undefined, '', 'User there; empty = the one in the address, or the default user.'),
  password: text(undefined, '', 'Password there; empty = the one in the address.'),
  caFile: text('path', '', 'Authority in PEM to trust for rediss:// besides the usual ones.'),
  timeoutMs: integer(
    'ms',
    250,
    10,
    10_000,
    'Longest a charge may take; beyond it the answer is 503 and the connection is given up.',
  ),
});
