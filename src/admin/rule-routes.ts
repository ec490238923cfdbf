/** Rule groups in the control API, as files in Prometheus' format. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Directory } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import type { PreviewedAlert, RuleGroup, StoredRuleGroup } from '../model/rules.ts';
import { readRuleFile } from '../rules/rule-file.ts';
import { duration } from '../rules/rule-schema.ts';
import { writeRuleFile } from '../rules/write-rule-file.ts';
import { defineAccountRoute, type DefinedRoute, notFound, requireOwned } from './routes.ts';
import { streamParams, time } from './schemas.ts';

const maxGroupsPerStream = 500;
const maxBodyBytes = 1024 * 1024;

const rules = z.string().meta({
  description: "Rule groups in Prometheus' file format, YAML.",
  example: 'groups:\n- name: up\n  rules:\n  - alert: Down\n    expr: up == 0\n    for: 5m\n',
});
const file = z.strictObject({ rules });
const storedFile = z.object({
  rules,
  version: z.string().describe('Changes with the rules. Sent as ETag too, for If-Match.'),
});
const groupParams = streamParams.extend({ name: z.string().min(1).max(200) });

const counts = z.object({ groups: z.int(), rules: z.int() });
const checked = counts.extend({ groupNames: z.array(z.string()) });
const groupsAnswer = z.object({
  ruleGroups: z.array(
    z.object({
      streamId: z.string(),
      name: z.string(),
      intervalSeconds: z.number(),
      rules: z.int(),
      failing: z.int().describe('Rules whose last evaluation failed.'),
      pending: z.int().describe('Pending alerts.'),
      firing: z.int().describe('Firing alerts.'),
      lateAt: z.string().nullable().meta({
        format: 'date-time',
        description: 'Evaluation that last found data which the one before had missed.',
      }),
      evaluatedAt: z.string().nullable().meta({ format: 'date-time' }),
      updatedAt: z.string().meta({ format: 'date-time' }),
    }),
  ),
});

const previewBody = z.strictObject({
  rules,
  sinceTime: time.optional().describe('Default: a day before the end.'),
  untilTime: time.optional().describe('Default: now.'),
  step: duration
    .refine((ms) => ms >= 1000 && ms <= 3_600_000, { error: 'must be 1s to 1h' })
    .optional()
    .describe('Between evaluations; default: the interval of the group.'),
});
const previewAnswer = z.object({
  alerts: z.array(
    z.object({
      group: z.string(),
      state: z
        .enum(['pending', 'firing', 'inactive'])
        .describe('`pending`: it never fired; `inactive`: it fired and ended.'),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()),
      value: z.string().describe('While the query last selected it.'),
      activeAt: time,
      firedAt: time.nullable(),
      endedAt: time.nullable().describe('null = active at the end.'),
    }),
  ),
  groups: z.array(
    z.object({
      name: z.string(),
      stepSeconds: z.number(),
      evaluations: z.int(),
      failures: z.array(
        z.object({
          rule: z.string(),
          evaluations: z.int().describe('How many of them failed.'),
          lastError: z.string(),
        }),
      ),
    }),
  ),
});

export const ruleRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /rule-groups',
    operationId: 'listRuleGroups',
    summary: "The account's rule groups, by stream and name",
    response: groupsAnswer,
    handle: async ({ accountId }, { directory }) => ({
      ruleGroups: (await directory.listRuleGroups(accountId)).map(toAnswer),
    }),
  }),
  defineAccountRoute({
    endpoint: 'POST /rule-groups/check',
    operationId: 'checkRules',
    summary: 'Check rule groups without saving them',
    body: file,
    maxBodyBytes,
    response: checked,
    handle: async ({ body }, { ruleOptions }) => {
      const groups = readRuleFile(body.rules, ruleOptions);
      return { ...toCounts(groups), groupNames: groups.map(({ name }) => name) };
    },
  }),
  defineAccountRoute({
    endpoint: 'GET /streams/:streamId/rule-groups',
    operationId: 'getRuleFile',
    summary: "A stream's rule groups as a file",
    params: streamParams,
    response: storedFile,
    isVersioned: true,
    handle: async ({ accountId, params: { streamId } }, { directory }) =>
      toFile(await groupsOf(directory, accountId, streamId)),
  }),
  defineAccountRoute({
    endpoint: 'GET /streams/:streamId/rule-groups/:name',
    operationId: 'getRuleGroup',
    summary: 'One rule group as a file',
    params: groupParams,
    response: storedFile,
    isVersioned: true,
    handle: async ({ accountId, params: { streamId, name } }, { directory }) => {
      const groups = await groupsOf(directory, accountId, streamId);
      return toFile([findGroup(groups, name)]);
    },
  }),
  defineAccountRoute({
    endpoint: 'PUT /streams/:streamId/rule-groups',
    operationId: 'putRuleFile',
    summary: 'Add rule groups to a stream, and replace those of the same names',
    params: streamParams,
    body: file,
    maxBodyBytes,
    response: counts,
    takesIfMatch: true,
    handle: async (
      { accountId, params: { streamId }, body, ifMatch },
      { directory, audit, ruleOptions },
    ) => {
      const stored = await groupsOf(directory, accountId, streamId);
      const groups = readRuleFile(body.rules, ruleOptions);
      const expected = isMatched(stored, ifMatch) ? stored : undefined;
      const limits = { maxGroups: maxGroupsPerStream, expected };
      await directory.putRuleGroups(streamId, groups, limits);
      audit(streamId);
      return toCounts(groups);
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /streams/:streamId/rule-groups/:name',
    operationId: 'deleteRuleGroup',
    summary: 'Delete a rule group and its alerts',
    params: groupParams,
    takesIfMatch: true,
    handle: async ({ accountId, params: { streamId, name }, ifMatch }, { directory, audit }) => {
      const stored = findGroup(await groupsOf(directory, accountId, streamId), name);
      const expected = isMatched([stored], ifMatch) ? stored : undefined;
      const isDeleted = await directory.deleteRuleGroup({ streamId, name }, expected);
      if (!isDeleted) throw notFound('rule group', JSON.stringify(name));
      audit(`${streamId}/${name}`);
    },
  }),
  defineAccountRoute({
    endpoint: 'POST /streams/:streamId/rule-groups/preview',
    operationId: 'previewRules',
    summary: 'Which alerts rule groups would have raised in the past',
    params: streamParams,
    body: previewBody,
    maxBodyBytes,
    response: previewAnswer,
    handle: async (
      { accountId, params: { streamId }, body, disconnected },
      { directory, now, ruleOptions, previewRules },
    ) => {
      await requireStream(directory, accountId, streamId);
      const untilMs = body.untilTime === undefined ? now() : Date.parse(body.untilTime);
      const sinceMs =
        body.sinceTime === undefined ? untilMs - 86_400_000 : Date.parse(body.sinceTime);
      if (sinceMs > untilMs) {
        const since = new Date(sinceMs).toISOString();
        const message = `cannot preview backwards: sinceTime ${since} is after untilTime`;
        throw new AppError('malformed', message, { parameter: 'sinceTime' });
      }
      const answer: z.output<typeof previewAnswer> = { alerts: [], groups: [] };
      for (const group of readRuleFile(body.rules, ruleOptions)) {
        const stepMs = body.step ?? group.intervalMs;
        const times = { sinceMs, untilMs, stepMs };
        const owner = { accountId, streamId };
        const previewed = await previewRules(owner, group, times, disconnected);
        const { evaluations, failures } = previewed;
        const { name } = group;
        answer.alerts.push(...previewed.alerts.map((one) => toPreviewed(name, one)));
        answer.groups.push({
          name,
          stepSeconds: stepMs / 1000,
          evaluations,
          failures: [...failures],
        });
      }
      return answer;
    },
  }),
];

function toPreviewed(group: string, { alert, endedAtMs }: PreviewedAlert) {
  const { state, labels, annotations, value, activeAtMs, firedAtMs } = alert;
  return {
    group,
    state,
    labels,
    annotations,
    value,
    activeAt: new Date(activeAtMs).toISOString(),
    firedAt: toTime(firedAtMs),
    endedAt: toTime(endedAtMs),
  };
}

function toTime(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : new Date(timeMs).toISOString();
}

async function requireStream(directory: Directory, accountId: string, id: string): Promise<void> {
  requireOwned(await directory.getStream(id), 'stream', { accountId, id });
}

/** By name. @throws AppError `not_found` */
async function groupsOf(
  directory: Directory,
  accountId: string,
  streamId: string,
): Promise<RuleGroup[]> {
  await requireStream(directory, accountId, streamId);
  const stored = await directory.listRuleGroups(accountId);
  return stored.filter((one) => one.streamId === streamId).map(({ group }) => group);
}

function findGroup(groups: readonly RuleGroup[], name: string): RuleGroup {
  const found = groups.find((group) => group.name === name);
  if (found === undefined) throw notFound('rule group', JSON.stringify(name));
  return found;
}

function toFile(groups: readonly RuleGroup[]): z.output<typeof storedFile> {
  return { rules: writeRuleFile(groups), version: versionOf(groups) };
}

function versionOf(groups: readonly RuleGroup[]): string {
  return createHash('sha256').update(JSON.stringify(groups)).digest('base64url').slice(0, 16);
}

/** @returns false if any version may be changed. @throws AppError `precondition_failed` */
function isMatched(groups: readonly RuleGroup[], ifMatch: string | undefined): boolean {
  if (ifMatch === undefined) return false;
  const version = versionOf(groups);
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes(`"${version}"`)) return true;
  if (tags.includes('*')) return false;
  throw new AppError(
    'precondition_failed',
    `cannot change the rules: they are not at version ${ifMatch} but at "${version}"; ` +
      'read them again',
    { parameter: 'If-Match' },
  );
}

function toCounts(groups: readonly StoredRuleGroup['group'][]): z.output<typeof counts> {
  return {
    groups: groups.length,
    rules: groups.reduce((sum, group) => sum + group.rules.length, 0),
  };
}

function toAnswer({ streamId, group, state, updatedAt }: StoredRuleGroup) {
  const states = Object.values(state?.rules ?? {});
  const alerts = states.flatMap((rule) => rule.alerts);
  const countAlerts = (wanted: string) => alerts.filter((one) => one.state === wanted).length;
  return {
    streamId,
    name: group.name,
    intervalSeconds: group.intervalMs / 1000,
    rules: group.rules.length,
    failing: states.filter(({ health }) => health === 'err').length,
    pending: countAlerts('pending'),
    firing: countAlerts('firing'),
    lateAt: toTime(state?.late?.atMs),
    evaluatedAt: state === undefined ? null : new Date(state.evaluatedAtMs).toISOString(),
    updatedAt,
  };
}
