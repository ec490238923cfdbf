/** Finds resources by name or id. */
import type { Api } from './api.ts';
import { CommandError, exitCodes } from './terminal.ts';

type Listed = Readonly<Record<string, unknown>>;

/**
 * @param resource such as `stream`
 * @returns the id of the resource that has it, or of the only one with that name
 * @throws CommandError where there is none, or several have the name
 */
export async function toId(
  api: Pick<Api, 'call'>,
  resource: string,
  given: string,
): Promise<string> {
  const path = [`${resource}s`];
  const inAccount = resource !== 'account';
  const lists = await api.call<Record<string, Listed[]>>({ method: 'GET', path, inAccount });
  const all = Object.values(lists).flat();
  const idOf = (one: Listed) => String(one[`${resource}Id`]);
  if (all.some((one) => idOf(one) === given)) return given;
  const [id, ...others] = all.filter(({ name }) => name === given).map(idOf);
  if (id === undefined) {
    throw new CommandError(`cannot find ${resource} ${given}: it is neither a name nor an id`);
  }
  if (others.length === 0) return id;
  throw new CommandError(
    `cannot choose a ${resource}: several are called ${given}: ${[id, ...others].join(', ')}`,
    exitCodes.usage,
  );
}

/** The options of a command, with ids of the streams and receivers that they refer to. */
export async function withIds(api: Pick<Api, 'call'>, options: Listed): Promise<Listed> {
  const ids: Record<string, string> = {};
  for (const resource of ['stream', 'receiver']) {
    const given = options[resource];
    if (typeof given === 'string') ids[resource] = await toId(api, resource, given);
  }
  return { ...options, ...ids };
}
