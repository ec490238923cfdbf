/** The form of a transform in the control API. */
import { RE2JS } from 're2js';
import { z } from 'zod';
import { redactedKinds, type TransformStep } from '../model/transform.ts';

const maxSteps = 20;
/** In instructions: 64 KiB of text take up to 2 s with as many. */
const maxPatternSize = 500;
const maxPatternsSize = 1000;

const field = z.string().min(1).max(200).meta({
  description:
    'message, severity, service_name, service_namespace, host, trace_id, span_id, or a label.',
  example: 'severity',
});

const pattern = z
  .string()
  .min(1)
  .max(500)
  .superRefine((text, context) => {
    const reason = faultOf(text);
    if (reason !== undefined) {
      context.addIssue({ code: 'custom', message: reason });
    }
  })
  .describe('An RE2 pattern; named groups as (?P<name>…).');

const condition = z
  .strictObject({
    field,
    is: z.string().max(1000).optional(),
    matches: pattern.optional(),
  })
  .refine(({ is, matches }) => (is === undefined) !== (matches === undefined), {
    error: 'give either is or matches',
  });

const step = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('parse'),
    format: z.enum(['json', 'logfmt']),
    prefix: z.string().max(100).default(''),
  }),
  z.strictObject({
    type: z.literal('extract'),
    pattern: pattern.refine((text) => text.includes('(?P<') || text.includes('(?<'), {
      error: 'has no named group (?P<name>…)',
    }),
    from: field.default('message'),
  }),
  z.strictObject({ type: z.literal('rename'), from: field, to: field }),
  z.strictObject({ type: z.literal('remove'), fields: z.array(field).min(1).max(100) }),
  z.strictObject({ type: z.literal('drop'), where: condition }),
  z
    .strictObject({
      type: z.literal('redact'),
      kinds: z.array(z.enum(redactedKinds)).max(redactedKinds.length).default([]),
      pattern: pattern.optional(),
      replacement: z.string().max(100).default('[redacted]'),
    })
    .refine(({ kinds, pattern: own }) => kinds.length > 0 || own !== undefined, {
      error: 'give kinds (card, email, token), a pattern, or both',
    }),
  z.strictObject({
    type: z.literal('sample'),
    share: z.number().min(0).max(1),
    by: field.optional(),
    where: condition.optional(),
  }),
]);

/** Steps in order; empty = none. */
export const transformSchema = z
  .array(step)
  .max(maxSteps)
  .superRefine((steps, context) => {
    const size = steps.flatMap(patternsOf).reduce((sum, text) => sum + sizeOf(text), 0);
    if (size <= maxPatternsSize) return;
    const message =
      `has patterns that are too large: together they compile to ${size} instructions of at ` +
      `most ${maxPatternsSize}; use fewer or shorter ones`;
    context.addIssue({ code: 'custom', message });
  })
  .meta({
    description: `Steps that change or drop logs before they are stored; at most ${maxSteps}.`,
    example: [{ type: 'redact', kinds: ['card', 'token'], replacement: '[redacted]' }],
  }) satisfies z.ZodType<readonly TransformStep[]>;

function patternsOf(one: TransformStep): string[] {
  const own = 'pattern' in one ? one.pattern : undefined;
  const ofCondition = 'where' in one ? one.where?.matches : undefined;
  return [own, ofCondition].filter((text) => text !== undefined);
}

/** In instructions; 0 for a pattern that is reported by itself. */
function sizeOf(text: string): number {
  try {
    return RE2JS.compile(text).programSize();
  } catch {
    return 0;
  }
}

function faultOf(text: string): string | undefined {
  try {
    const size = RE2JS.compile(text).programSize();
    if (size <= maxPatternSize) return undefined;
    return (
      `is too large: it compiles to ${size} instructions of at most ${maxPatternSize}; ` +
      'repeat less, as in {1,10}, or match shorter parts'
    );
  } catch (error) {
    return `is not an RE2 pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
}
