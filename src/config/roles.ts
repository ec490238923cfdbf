/** The roles of a process, and checks that its configuration can work with them. Pure. */
import type { Config } from './schema.ts';

export type Role = Config['roles'][number];

const allRoles: readonly Role[] = ['gateway', 'stream', 'writer', 'engine'];
const queueRoles = ['gateway', 'stream', 'writer'] as const;

type Servers = Pick<Config, 'roles' | 'queue' | 'store' | 'directory' | 'workers'>;

export function rolesOf({ roles, store }: Pick<Config, 'roles' | 'store'>): ReadonlySet<Role> {
  if (roles.length > 0) return new Set(roles);
  return new Set(allRoles.filter((role) => role !== 'engine' || store.url === ''));
}

/** @returns one sentence per problem. */
export function checkRoles(config: Servers): string[] {
  const roles = rolesOf(config);
  const own = queueRoles.filter((role) => roles.has(role));
  const named = `roles ${[...roles].join(',')}`;
  const faults: string[] = [];
  if (own.length > 0 && own.length < queueRoles.length) {
    if (roles.has('engine')) {
      faults.push(
        `cannot use ${named}: engine is used alone or with all other roles; ` +
          'run it in a separate process and set store.url to its address',
      );
    }
    if (config.queue.urls.length === 0) {
      faults.push(
        `cannot use ${named} without queue.urls: ` +
          'separate processes cannot share the queue in the data directory; they need NATS',
      );
    }
    if (config.directory.url === '') {
      faults.push(
        `cannot use ${named} without directory.url: ` +
          'separate processes cannot share an embedded directory; they need PostgreSQL',
      );
    }
  }
  const needsStore = roles.has('stream') || roles.has('writer');
  if (needsStore && !roles.has('engine') && config.store.url === '') {
    faults.push(`cannot use ${named} without store.url, or the role engine`);
  }
  if (roles.has('engine') && config.store.url !== '') {
    faults.push(
      `cannot use the role engine with store.url: the store is either embedded or a server`,
    );
  }
  if (config.workers > 1 && !roles.has('gateway')) {
    faults.push(`cannot use ${config.workers} workers without the role gateway`);
  }
  return faults;
}
