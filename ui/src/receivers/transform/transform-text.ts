/** The text of a transform: a JSON array with a step in each line, and where it is wrong. Pure. */
import type { TransformStep } from '../../api/models.ts';
import type { TextFault } from '../../parts/editor/text-fault.ts';
import { jsonEntry } from '../../parts/text/json-text.ts';

/** One of each type, to begin with. */
export const examples: readonly { readonly label: string; readonly step: TransformStep }[] = [
  { label: 'Parse messages as JSON', step: { type: 'parse', format: 'json' } },
  {
    label: 'Extract fields by a pattern',
    step: { type: 'extract', pattern: String.raw`user=(?P<user>\w+)` },
  },
  { label: 'Rename a field', step: { type: 'rename', from: 'app', to: 'service_name' } },
  { label: 'Remove fields', step: { type: 'remove', fields: ['password'] } },
  { label: 'Drop logs', step: { type: 'drop', where: { field: 'severity', is: 'debug' } } },
  { label: 'Redact secrets', step: { type: 'redact', kinds: ['card', 'email', 'token'] } },
  { label: 'Keep a share of the logs', step: { type: 'sample', share: 0.1, by: 'trace_id' } },
];

export function toText(steps: readonly TransformStep[]): string {
  if (steps.length === 0) return '[]\n';
  return `[\n${steps.map((step) => `  ${inOneLine(step)}`).join(',\n')}\n]\n`;
}

/** Line breaks of indented JSON are never within its strings. */
function inOneLine(step: TransformStep): string {
  return JSON.stringify(step, undefined, 1).replaceAll(/\n */g, ' ');
}

/** @returns undefined unless the text ends as an array does */
export function withStep(text: string, step: TransformStep): string | undefined {
  const before = /^(.*\S)\s*\]\s*$/s.exec(text)?.[1];
  if (before === undefined) return undefined;
  return `${before}${/^\s*\[$/.test(before) ? '' : ','}\n  ${inOneLine(step)}\n]\n`;
}

/** The service checks each step. */
export function readSteps(text: string): readonly TransformStep[] | TextFault {
  try {
    const steps: unknown = JSON.parse(text);
    if (Array.isArray(steps)) return steps as TransformStep[];
    return { position: undefined, message: 'cannot read the steps: write them as a JSON array' };
  } catch (error) {
    const { message } = error as SyntaxError;
    // Not every browser says where.
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return {
      position: position === undefined ? undefined : Number(position),
      message: `cannot read the steps as JSON: ${message}`,
    };
  }
}

export function isFault(read: readonly TransformStep[] | TextFault): read is TextFault {
  return 'message' in read;
}

/** `cannot accept the body: transform.0.where.matches: …; …`, each at its field. */
export function toStepFaults(text: string, error: unknown): TextFault[] {
  const whole = error instanceof Error ? error.message : String(error);
  const listed = /^cannot accept the body: (.*)$/s.exec(whole)?.[1];
  if (listed === undefined) return [{ position: undefined, message: whole }];
  return listed.split(/; (?=(?:unknown field ")?transform\b)/).map((one) => {
    const [, unknown, index, path = '', words = ''] =
      /^(unknown field ")?transform\.(\d+)\.?([^":]*)(.*)$/s.exec(one) ?? [];
    if (index === undefined) return { position: undefined, message: one };
    const step = `step ${Number(index) + 1}`;
    const place = path === '' ? step : `${step}, ${path}`;
    const message = unknown === undefined ? place + words : `${step}: unknown field "${path}"`;
    return { position: positionOf(text, [index, ...path.split('.')]), message };
  });
}

/** Of the step when the field is missing. */
function positionOf(text: string, path: readonly string[]): number | undefined {
  if (path.length === 0) return undefined;
  return jsonEntry(text, path.join('.'))?.keyAt ?? positionOf(text, path.slice(0, -1));
}
