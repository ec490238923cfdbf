/** `weir rules`: rule groups in Prometheus' file format. */
import { readFileSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { messageOf } from '../std/error-text.ts';
import type { Api } from './api.ts';
import { instantHelp, toInstant } from './reading/instant.ts';
import { toId } from './names.ts';
import { openSession } from './session.ts';
import { CommandError, type Terminal } from './terminal.ts';

const examples = `
Examples:
  weir rules check rules.yaml
  weir rules preview rules.yaml --since 6h
  weir rules apply rules.yaml --stream shop
  weir rules list
  weir rules show --stream shop > rules.yaml
  weir rules show checkout
  weir rules delete checkout --stream shop
  version=$(weir rules show --json | jq -r .version)
  weir rules show > rules.yaml   # and edit it
  weir rules apply rules.yaml --if-version "$version"`;

const columns = [
  'name',
  'streamId',
  'rules',
  'failing',
  'pending',
  'firing',
  'lateAt',
  'evaluatedAt',
] as const;
const streamOption = [
  '--stream <stream>',
  'name or id of the stream of the rules; default: the only one of the account',
] as const;

/** @param command that prints the version */
const versionOption = (command: string) =>
  [
    '--if-version <version>',
    `only if ${command} --json still prints this version; default: in any case`,
  ] as const;

interface StreamFlag {
  readonly stream?: string;
}

interface ChangeFlags extends StreamFlag {
  readonly ifVersion?: string;
}

interface Counts {
  readonly groups: number;
  readonly rules: number;
}

export function define(command: Command, terminal: Terminal): void {
  command.addHelpText('afterAll', examples);
  command
    .command('list')
    .description("list the account's rule groups with the state of their alerts")
    .action(async (_options: object, self: Command) => {
      const { api, output } = openSession(self, terminal);
      output.list(await api.call({ method: 'GET', path: ['rule-groups'] }), columns);
    });
  command
    .command('show')
    .argument('[group]', 'name of a group; default: all')
    .description("print a stream's rule groups as a file")
    .option(...streamOption)
    .action(async (group: string | undefined, { stream }: StreamFlag, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const path = [...(await groupsOf(api, stream)), ...(group === undefined ? [] : [group])];
      const answer = await api.call<{ rules: string }>({ method: 'GET', path });
      await output.show(answer, () => answer.rules);
    });
  command
    .command('check')
    .argument('<file>', 'rule file, - = standard input')
    .description('check a file without saving it')
    .action(async (file: string, _options: object, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const body = { rules: await readRules(file) };
      const path = ['rule-groups', 'check'];
      const counts = await api.call<Counts>({ method: 'POST', path, body });
      output.done(`${file} is valid: ${countText(counts)}`);
    });
  definePreview(command, terminal);
  command
    .command('apply')
    .argument('<file>', 'rule file, - = standard input')
    .description('add the groups of a file, and replace those of the same names')
    .option(...streamOption)
    .option(...versionOption('show'))
    .action(async (file: string, { stream, ifVersion }: ChangeFlags, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const body = { rules: await readRules(file) };
      const path = await groupsOf(api, stream);
      const headers = toCondition(ifVersion);
      const counts = await api.call<Counts>({ method: 'PUT', path, body, headers });
      output.done(`applied ${countText(counts)}`);
    });
  command
    .command('delete')
    .argument('<group>', 'name of the group')
    .description('delete a rule group and its alerts')
    .option(...streamOption)
    .option(...versionOption('show <group>'))
    .action(async (group: string, { stream, ifVersion }: ChangeFlags, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const path = [...(await groupsOf(api, stream)), group];
      await api.call({ method: 'DELETE', path, headers: toCondition(ifVersion) });
      output.done(`deleted rule group ${group}`);
    });
}

interface PreviewFlags extends StreamFlag {
  readonly since: string;
  readonly until?: string;
  readonly step?: string;
}

interface Preview {
  readonly alerts: readonly {
    readonly state: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly activeAt: string;
    readonly firedAt: string | null;
    readonly endedAt: string | null;
    readonly value: string;
  }[];
  readonly groups: readonly {
    readonly name: string;
    readonly evaluations: number;
    readonly failures: readonly {
      readonly rule: string;
      readonly evaluations: number;
      readonly lastError: string;
    }[];
  }[];
}

/** For many groups: the service begins no read of a group after 30 s. */
const previewTimeoutMs = 600_000;
const previewColumns = ['alert', 'labels', 'value', 'activeAt', 'firedAt', 'endedAt'] as const;

function definePreview(command: Command, terminal: Terminal): void {
  const nowMs = Date.now();
  const instant = (text: string) =>
    new Date(Date.parse(toInstant(text, nowMs, 'local'))).toISOString();
  command
    .command('preview')
    .argument('<file>', 'rule file, - = standard input')
    .description('list the alerts that a file would have raised in the past')
    .option(...streamOption)
    .addOption(
      new Option('--since <time>', `begin: ${instantHelp}`)
        .argParser(instant)
        .default(instant('1d'), '1d'),
    )
    .option('--until <time>', 'end; default: now', instant)
    .option('--step <duration>', 'time between evaluations; default: the interval of each group')
    .action(async (file: string, flags: PreviewFlags, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const { stream, since: sinceTime, until: untilTime, step } = flags;
      const body = { rules: await readRules(file), sinceTime, untilTime, step };
      const path = [...(await groupsOf(api, stream)), 'preview'];
      const timeoutMs = previewTimeoutMs;
      const answer = await api.call<Preview>({ method: 'POST', path, body, timeoutMs });
      if (output.format === 'json') return output.record(answer);
      const alerts = answer.alerts.map(({ labels: { alertname, ...labels }, ...one }) => {
        const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
        const number = Number(one.value);
        // Infinities have names of their own.
        const value = Number.isNaN(number) ? one.value : String(number);
        return { ...one, value, alert: alertname, labels: pairs.join(' ') || null };
      });
      output.list({ alerts }, previewColumns);
      for (const { name, failures, ...group } of answer.groups) {
        if (group.evaluations === 0) {
          const end = untilTime ?? new Date().toISOString();
          const quoted = JSON.stringify(name);
          terminal.writeError(`weir: group ${quoted} is not due between ${sinceTime} and ${end}\n`);
        }
        for (const { rule, evaluations, lastError } of failures) {
          const text = `weir: ${rule} of group ${name} failed ${evaluations} times: ${lastError}\n`;
          terminal.writeError(text);
        }
      }
    });
}

async function groupsOf(api: Api, stream: string | undefined): Promise<string[]> {
  if (stream !== undefined) return ['streams', await toId(api, 'stream', stream), 'rule-groups'];
  const call = { method: 'GET', path: ['streams'] } as const;
  const { streams } = await api.call<{ streams: { streamId: string }[] }>(call);
  const [only, second] = streams;
  if (only !== undefined && second === undefined) return ['streams', only.streamId, 'rule-groups'];
  throw new CommandError(
    `cannot choose between ${streams.length} streams: give --stream (weir stream list lists them)`,
  );
}

async function readRules(file: string): Promise<string> {
  if (file === '-') return readText(process.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${messageOf(error)}`);
  }
}

function toCondition(version: string | undefined): Record<string, string> | undefined {
  return version === undefined ? undefined : { 'if-match': `"${version}"` };
}

function countText({ groups, rules }: Counts): string {
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  return `${count(rules, 'rule')} in ${count(groups, 'group')}`;
}
