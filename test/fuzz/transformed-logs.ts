/** Steps of a transform with the logs that they change, as one JSON text. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/model/errors.ts';
import { createJsonLogsDecoder } from '../../src/protocols/json-logs/decode.ts';
import { previewTransform } from '../../src/transform/sample-event.ts';
import { transformSchema } from '../../src/transform/spec.ts';
import { createTransformer } from '../../src/transform/transform-batch.ts';
import type { Random } from '../harness/random.ts';
import { checkBatch } from './batch-rules.ts';
import type { Words } from './damage-text.ts';
import { jsonLogs } from './log-requests.ts';

const limits = { maxEvents: 10_000, maxDepth: 64, maxRejections: 10 };
const maxSteps = 4;

const fields = ['message', 'severity', 'trace_id', 'span_id', 'host', 'a', '__proto__'] as const;
const extractions = [
  '(?P<a>.*)(?P<message>.*)',
  '(?P<trace_id>[0-9a-f]+)(?P<__proto__>.)?',
  '(?P<a>(?P<b>(?P<severity>\\w*)))$',
] as const;
const patterns = [
  '(?:(?:x*)*)*$',
  '(?:a?){100}a{100}',
  '\\bnaïve\\b',
  '[^\\x00-\\x7F]|\\x00',
  'x*',
] as const;

/** Words of steps, for damage. */
export const stepWords: Words = [
  '{"type":"remove","fields":["message","a"]}',
  '"type":"redact"',
  '"kinds":["card","email","token"]',
  '"where":{"field":"a","is":""}',
  '"replacement":"$1\\\\"',
  '"replacement":""',
  '"share":1e999',
  '4111111111111111',
];

export function transformedLogs(random: Random, records: number): Buffer {
  const steps = Array.from({ length: random.integer(1, maxSteps) }, () => step(random));
  const logs = jsonLogs(random, Math.min(records, 20)).toString();
  return Buffer.from(`{"steps":${JSON.stringify(steps)},"logs":${logs}}`);
}

function step(random: Random): object {
  const field = () => random.pick(fields);
  const pattern = () => random.pick(patterns);
  const is = random.pick(['', 'a', 'info']);
  return random.pick<object>([
    { type: 'parse', format: random.pick(['json', 'logfmt']), prefix: random.pick(['', 'a.']) },
    { type: 'extract', pattern: random.pick(extractions), from: field() },
    { type: 'rename', from: field(), to: field() },
    { type: 'remove', fields: [field(), field()] },
    { type: 'drop', where: { field: field(), is } },
    { type: 'drop', where: { field: field(), matches: pattern() } },
    { type: 'redact', kinds: ['card', 'email', 'token'], pattern: pattern() },
    { type: 'redact', pattern: pattern(), replacement: random.pick(['', '$1', '\\', 'é$0']) },
    // A share of 0 or 1 leaves nothing to chance.
    { type: 'sample', share: random.pick([0, 1]), by: field(), where: { field: field(), is } },
  ]);
}

/** @throws AppError `malformed`, AssertionError on a violation */
export async function transformLogs(input: Buffer): Promise<unknown> {
  const { steps: given, logs } = parse(input);
  const steps = transformSchema.safeParse(given);
  if (!steps.success) throw new AppError('malformed', 'cannot accept the steps');
  const decoded = await createJsonLogsDecoder()(Buffer.from(JSON.stringify(logs ?? [])), limits);
  const batch = await createTransformer()(decoded, steps.data);
  checkBatch(batch, limits);
  assert.ok(batch.rows <= decoded.rows, 'a transform adds no logs');
  const sample = { message: JSON.stringify(logs ?? []), severity: 'INFO', a: 'b' };
  const [previewed] = await previewTransform(steps.data, [sample]);
  // Shares between 0 and 1 are left to chance.
  const isRandom = steps.data.some((one) => one.type === 'sample' && one.share % 1 !== 0);
  return isRandom
    ? undefined
    : [batch.rows, Buffer.from(batch.payload).toString('base64'), previewed];
}

function parse(input: Buffer): { steps?: unknown; logs?: unknown } {
  try {
    const parsed: unknown = JSON.parse(input.toString());
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch (error) {
    throw new AppError('malformed', 'cannot parse the request', { cause: error });
  }
  throw new AppError('malformed', 'cannot find steps and logs');
}
