/** Reads, saves and deletes stored rules, unless others have changed them meanwhile. */
import { type Api, dataOf } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';

const list = '/api/v1/admin/rule-groups';
const path = '/api/v1/admin/streams/{streamId}/rule-groups';
/** A proxy may answer 412 itself. */
const maxAttempts = 5;

/** What the person knows is not what would be overwritten. */
export class ChangedMeanwhile extends Error {}

/** @returns undefined if there is no such group. @throws ApiProblem */
export async function readRuleGroup(
  api: Api,
  streamId: string,
  name: string,
): Promise<{ readonly rules: string; readonly version: string } | undefined> {
  const params = { path: { streamId, name } };
  try {
    return await dataOf(api.GET(`${path}/{name}`, { params }));
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
}

/** @param version that the person knows. @throws ChangedMeanwhile, ApiProblem */
export async function deleteRuleGroup(
  api: Api,
  { streamId, name }: { readonly streamId: string; readonly name: string },
  version: string | undefined,
): Promise<void> {
  const params = { path: { streamId, name } };
  const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
  try {
    await dataOf(api.DELETE(`${path}/{name}`, { params, headers }));
  } catch (error) {
    if (!isRefusedVersion(error)) throw error;
    throw new ChangedMeanwhile(
      `${name} was changed since you began to delete it: close this and look at its rules.`,
    );
  }
}

function isRefusedVersion(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}

/** @throws ApiProblem with status 400 for faults */
export function checkRules(api: Api, rules: string) {
  return dataOf(api.POST(`${list}/check`, { body: { rules } }));
}

export interface RuleSave {
  readonly streamId: string;
  readonly text: string;
  /** The group that is edited, as it was when editing began; undefined = new rules. */
  readonly edited: { readonly name: string; readonly base: string } | undefined;
  /** Other groups that the person knows to replace. */
  readonly replaced: readonly string[];
}

/** @param isForced whatever others have changed. @throws ChangedMeanwhile, ApiProblem */
export async function saveRules(api: Api, save: RuleSave, isForced: boolean) {
  const params = { path: { streamId: save.streamId } };
  for (let attempt = 1; ; attempt += 1) {
    const { version } = await dataOf(api.GET(path, { params }));
    if (!isForced) await assertKnown(api, save);
    const headers = { 'if-match': `"${version}"` };
    try {
      return await dataOf(api.PUT(path, { params, headers, body: { rules: save.text } }));
    } catch (error) {
      // Somebody has saved between the two calls: what they saved is compared too.
      if (!isRefusedVersion(error) || attempt === maxAttempts) throw error;
    }
  }
}

async function assertKnown(
  api: Api,
  { streamId, text, edited, replaced }: RuleSave,
): Promise<void> {
  const known = [edited?.name, ...replaced];
  const { groupNames } = await checkRules(api, text);
  const { ruleGroups } = await dataOf(api.GET(list));
  const present = ruleGroups.filter((one) => one.streamId === streamId).map(({ name }) => name);
  const unknown = groupNames.find((one) => present.includes(one) && !known.includes(one));
  if (unknown !== undefined) {
    throw new ChangedMeanwhile(`${unknown} exists by now: saving replaces its rules.`);
  }
  if (edited === undefined) return;
  const { name, base } = edited;
  const now = (await readRuleGroup(api, streamId, name))?.rules;
  if (now === base) return;
  const what = now === undefined ? 'deleted' : 'changed';
  throw new ChangedMeanwhile(`${name} was ${what} since you began to edit it.`);
}
