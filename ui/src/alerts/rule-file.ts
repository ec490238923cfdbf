/** Reads stored rules, and saves them without overwriting what others have changed meanwhile. */
import { type Api, dataOf } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { groupNamesOf } from './rule-text.ts';

const path = '/api/v1/admin/streams/{streamId}/rule-groups';

/** What the person knows is not what would be overwritten. */
export class ChangedMeanwhile extends Error {}

/** @returns undefined if there is no such group. @throws ApiProblem */
export async function readRuleGroup(
  api: Api,
  streamId: string,
  name: string,
): Promise<string | undefined> {
  const params = { path: { streamId, name } };
  try {
    return (await dataOf(api.GET(`${path}/{name}`, { params }))).rules;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
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
  for (;;) {
    const stored = await dataOf(api.GET(path, { params }));
    if (!isForced) await assertKnown(api, save, stored.rules);
    const headers = { 'if-match': `"${stored.version}"` };
    try {
      return await dataOf(api.PUT(path, { params, headers, body: { rules: save.text } }));
    } catch (error) {
      // Somebody has saved between the two calls: what they saved is compared too.
      if (!(error instanceof ApiProblem && error.status === 412)) throw error;
    }
  }
}

async function assertKnown(
  api: Api,
  { streamId, text, edited, replaced }: RuleSave,
  stored: string,
): Promise<void> {
  const known = [edited?.name, ...replaced];
  const present = groupNamesOf(stored);
  const [unknown] = groupNamesOf(text).filter(
    (one) => present.includes(one) && !known.includes(one),
  );
  if (unknown !== undefined) {
    throw new ChangedMeanwhile(`${unknown} exists by now: saving replaces its rules.`);
  }
  if (edited === undefined) return;
  const { name, base } = edited;
  const now = await readRuleGroup(api, streamId, name);
  if (now === base) return;
  const what = now === undefined ? 'deleted' : 'changed';
  throw new ChangedMeanwhile(`${name} was ${what} since you began to edit it.`);
}
