/** The transform of a receiver: read from a file, and tried out on stored logs. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { LogRecord } from '../model/plan.ts';
import { messageOf } from '../std/error-text.ts';
import { integerWithin } from './arguments.ts';
import { toId } from './names.ts';
import { openSession } from './session.ts';
import { escapeLines, type Terminal } from './terminal.ts';

/** A JSON file with an array of steps; `none` clears the transform. */
export function toTransform(file: string): unknown[] {
  if (file === 'none') return [];
  try {
    const steps: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(steps)) return steps;
  } catch (error) {
    throw new InvalidArgumentError(`Give a JSON file of steps: ${messageOf(error)}.`);
  }
  throw new InvalidArgumentError('Give a JSON file with an array of steps.');
}

interface Preview {
  readonly results: readonly { readonly after?: Fields; readonly changes: readonly string[] }[];
  readonly dropped: number;
}

type Fields = Readonly<Record<string, string>>;

const maxSampleLength = 16_384;

export function addPreviewTransform(receiver: Command, terminal: Terminal): void {
  receiver
    .command('preview-transform')
    .description("apply a transform to the newest logs of the receiver's stream, without saving")
    .argument('<receiver>', 'its name or id')
    .option('--transform <file>', 'JSON file of steps; default: the transform in use', toTransform)
    .option('-n, --limit <n>', 'number of logs', integerWithin(1, 100), 20)
    .action(async (given: string, _options: object, command: Command) => {
      const { api, output } = openSession(command, terminal);
      const { transform, limit } = command.opts<{ transform?: unknown[]; limit: number }>();
      const path = ['receivers', await toId(api, 'receiver', given)];
      const { streamId } = await api.call<{ streamId: string }>({ method: 'GET', path });
      const query = new URLSearchParams({ streamId, limit: String(limit) });
      const { logs } = await api.get<{ logs: readonly LogRecord[] }>(['logs'], query);
      if (logs.length === 0) return output.done('the stream has no logs to try it on');
      const samples = logs.map(toFields);
      const preview = await api.call<Preview>({
        method: 'POST',
        path: [...path, 'transform', 'preview'],
        body: { transform, samples },
      });
      return output.show(preview, () => escapeLines(describe(samples, preview)));
    });
}

function toFields({ message, severity, host, serviceName, traceId, labels }: LogRecord): Fields {
  const columns = { message, severity, host, service_name: serviceName, trace_id: traceId };
  const present = Object.entries({ ...labels, ...columns }).filter(([, value]) => value !== '');
  return Object.fromEntries(
    present.map(([name, value]) => [name, value.slice(0, maxSampleLength)]),
  );
}

function describe(samples: readonly Fields[], { results, dropped }: Preview): string {
  const parts = results.map(({ after, changes }, index) => {
    const before = samples[index] ?? {};
    if (after === undefined) return `- ${before['message'] ?? ''}\n  (${changes.join(', ')})\n`;
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const lines = names
      .filter((name) => before[name] !== after[name])
      .map((name) => `  ${name}: ${quoted(before[name])} -> ${quoted(after[name])}\n`);
    const difference = lines.length === 0 ? '  (unchanged)\n' : lines.join('');
    return `  ${after['message'] ?? ''}\n${difference}`;
  });
  return `${parts.join('\n')}\n${results.length} logs, ${dropped} dropped\n`;
}

function quoted(value: string | undefined): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
