/** The fields of rule files, as YAML texts. */
import { z } from 'zod';
import { comparisons } from '../model/rules.ts';
import { parseDuration } from '../promql/parser/numbers.ts';
import { decimal } from '../std/decimal.ts';

const maxGroups = 500;
const maxRules = 1_000;
/** A year. */
const maxDurationMs = 366 * 86_400_000;

const durationForm = 'must be a duration such as 30s, 5m or 1h30m';
export const duration = z
  .string({ error: durationForm })
  .transform((value) => (value === '0' ? 0 : (parseDuration(value) ?? Number.NaN) * 1000))
  .refine((value) => value >= 0 && value <= maxDurationMs, { error: durationForm });
/** Maps of the API would lose the name. */
const hasLostName = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__');
const texts = z
  .unknown()
  .refine((value) => !hasLostName(value), { error: 'must not have the name __proto__' })
  .pipe(
    z.record(z.string(), z.string({ error: 'must be a text' }), {
      error: 'must be a map of names and texts',
    }),
  );
const nonEmpty = z.string({ error: 'must be a text' }).min(1, { error: 'must not be empty' });
const conditionForm = 'must be a comparison with a number, such as > 10';
const condition = z.string({ error: conditionForm }).transform((value, context) => {
  const [, op, number = ''] = /^\s*(>=|<=|==|!=|>|<)\s*(\S+)\s*$/.exec(value) ?? [];
  const found = comparisons.find((one) => one === op);
  if (found !== undefined && decimal.test(number)) return { op: found, value: Number(number) };
  context.issues.push({ code: 'custom', message: conditionForm, input: value });
  return z.NEVER;
});

/** A field without a value is an absent one, as in Prometheus. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).optional();
}

const ruleSchema = z.strictObject({
  record: nonEmpty.optional(),
  alert: nonEmpty.optional(),
  expr: nonEmpty.optional(),
  query: z.string({ error: 'must be a text' }).optional(),
  stat: nonEmpty.optional(),
  by: z.union([nonEmpty, z.array(nonEmpty)], { error: 'must be a list of fields' }).optional(),
  window: duration.optional(),
  baseline: duration.optional(),
  condition: condition.optional(),
  for: optional(duration),
  keep_firing_for: optional(duration),
  labels: optional(texts),
  annotations: optional(texts),
});

const groupSchema = z.strictObject({
  name: nonEmpty.max(200, { error: 'must have at most 200 characters' }),
  type: z.enum(['prometheus', 'logs'], { error: 'must be prometheus or logs' }).optional(),
  interval: optional(duration),
  query_offset: optional(duration),
  limit: optional(z.string().regex(/^\d{1,6}$/, { error: 'must be a whole number' })),
  labels: optional(texts),
  rules: optional(
    z
      .array(ruleSchema, { error: 'must be a list of rules' })
      .max(maxRules, { error: `must have at most ${maxRules} rules` }),
  ),
});

export const ruleFileSchema = z.strictObject({
  groups: optional(
    z
      .array(groupSchema, { error: 'must be a list of groups' })
      .max(maxGroups, { error: `must have at most ${maxGroups} groups` }),
  ),
});

export type FileGroup = z.output<typeof groupSchema>;
export type FileRule = z.output<typeof ruleSchema>;
