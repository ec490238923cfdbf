/**
 * What a process does, from its configuration, and whether that can work: which parts are in this
 * process, and which are servers that it shares with others. Pure.
 */
import type { Config } from './schema.ts';

export type Role = Config['roles'][number];

const allRoles: readonly Role[] = ['gateway', 'stream', 'writer', 'engine'];
const queueRoles = ['gateway', 'stream', 'writer'] as const;

type Servers = Pick<Config, 'roles' | 'queue' | 'store' | 'directory' | 'workers'>;

export function rolesOf({ roles, store }: Pick<Config, 'roles' | 'store'>): ReadonlySet<Role> {
  if (roles.length > 0) return new Set(roles);
  return new Set(allRoles.filter((role) => role !== 'engine' || store.url === ''));
}

/** @returns one sentence for each thing that cannot work. */
export function checkRoles(config: Servers): string[] {
  const roles = rolesOf(config);
  const own = queueRoles.filter((role) => roles.has(role));
  const named = `roles ${[...roles].join(',')}`;
  const faults: string[] = [];
  if (own.length > 0 && own.length < queueRoles.length) {
    if (roles.has('engine')) {
      faults.push(
        `cannot use ${named}: engine goes alone or with all others; ` +
          'run it in a process of its own, and name that as store.url',
      );
    }
    if (config.queue.urls.length === 0) {
      faults.push(
        `cannot use ${named} without queue.urls: ` +
          'gateway, stream and writer share the log in the data folder unless NATS is their queue',
      );
    }
    if (config.directory.url === '') {
      faults.push(
        `cannot use ${named} without directory.url: ` +
          'other processes know no tokens of a directory in the data folder',
      );
    }
  }
  const needsStore = roles.has('stream') || roles.has('writer');
  if (needsStore && !roles.has('engine') && config.store.url === '') {
    faults.push(`cannot use ${named} without store.url, or the role engine`);
  }
  if (roles.has('engine') && config.store.url !== '') {
    faults.push(`cannot use the role engine with store.url: one of them is the store`);
  }
  if (config.workers > 1 && !roles.has('gateway')) {
    faults.push(`cannot use ${config.workers} workers without the role gateway`);
  }
  return faults;
}
