/** `weir account`, `stream`, `receiver`, `token` and `view` from one table, and `weir whoami`. */
import { type Command, Option } from 'commander';
import { accessScopes, receiverKinds } from '../model/account.ts';
import { notifierKinds } from '../model/rules.ts';
import type { Method } from './api.ts';
import { cleared, collect, toInteger, toLevels, toLimit, toTime } from './arguments.ts';
import { addTokenRecover } from './directory.ts';
import { toId, withIds } from './names.ts';
import { openSession } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';
import { addPreviewTransform, toTransform } from './transform.ts';

type Options = Readonly<Record<string, unknown>>;

interface Resource {
  readonly examples: string;
  /** Columns of `list`. */
  readonly columns: readonly string[];
  /** Commands with their descriptions, in the order of the help. */
  readonly commands: Readonly<Record<string, string>>;
  /** Options of `create` and `update`. */
  readonly options?: Readonly<Record<string, readonly Option[]>>;
  readonly toBody?: (options: Options, verb: string) => object;
}

interface Verb {
  readonly method: Method;
  readonly takes?: 'name' | 'id';
  /** Last part of the path. */
  readonly below?: string;
  readonly body?: object;
}

const verbs: Readonly<Record<string, Verb>> = {
  create: { method: 'POST', takes: 'name' },
  list: { method: 'GET' },
  show: { method: 'GET', takes: 'id' },
  update: { method: 'PATCH', takes: 'id' },
  activate: { method: 'PATCH', takes: 'id', body: { active: true } },
  deactivate: { method: 'PATCH', takes: 'id', body: { active: false } },
  rotate: { method: 'POST', takes: 'id', below: 'rotate' },
  revoke: { method: 'POST', takes: 'id', below: 'revoke' },
  'delete-data': { method: 'DELETE', takes: 'id', below: 'data' },
  delete: { method: 'DELETE', takes: 'id' },
};

const rename = option('--name <name>', 'new name');
const accountRate = option(
  '--events-per-second <n>',
  "quota over all of the account's receivers, or unlimited",
  toLimit,
);
const streamSettings = [
  option(
    '--retention-days <n>',
    'retention in days, counted from receipt, 1 to 3650; 30 for a new stream',
    toInteger,
  ),
  option(
    '--downsampling <levels>',
    'metrics: keep the last sample of each 5 minutes after 30 days with 30d:5m, or none',
    toLevels,
  ),
];
const receiverSettings = [
  option('--allow <cidr>', 'address range that may send; repeat it for more', collect),
  option('--events-per-second <n>', 'quota, or unlimited', toLimit),
  option(
    '--burst-events <n>',
    'burst size in events; unlimited = ten seconds of the rate',
    toLimit,
  ),
  option('--max-body-bytes <n>', "largest body, or unlimited for the route's own cap", toLimit),
  option('--transform <file>', 'JSON file of steps that change its logs, or none', toTransform),
];

const resources: Readonly<Record<string, Resource>> = {
  account: {
    examples: `
  weir account create acme --events-per-second 5000
  weir account list
  weir account update acme --events-per-second unlimited`,
    columns: ['accountId', 'name', 'eventsPerSecond', 'createdAt'],
    commands: {
      create: 'create an account (scope operator)',
      list: 'list the accounts that the token manages',
      show: 'show one account',
      update: 'rename an account or change its quota (the latter with scope operator)',
      delete: 'delete an account without streams and receivers (scope operator)',
    },
    options: { create: [accountRate], update: [rename, accountRate] },
  },
  stream: {
    examples: `
  weir stream create checkout --retention-days 30
  weir stream update checkout --retention-days 400 --downsampling 30d:5m,180d:1h
  weir stream list
  weir stream delete-data checkout`,
    columns: ['streamId', 'name', 'retentionDays', 'downsampling', 'createdAt'],
    commands: {
      create: 'create a stream',
      list: "list the account's streams",
      show: 'show one stream',
      update: 'rename a stream, change its retention or its downsampling',
      'delete-data': 'delete everything a stream has received so far; reads hide it at once',
      delete: 'delete a stream that no receiver feeds, and its data',
    },
    options: { create: streamSettings, update: [rename, ...streamSettings] },
  },
  receiver: {
    examples: `
  weir receiver create checkout --kind http_json --stream checkout
  weir receiver update checkout --events-per-second 1000 --allow 10.0.0.0/8
  weir receiver deactivate checkout`,
    columns: ['receiverId', 'name', 'kind', 'active', 'streamId'],
    commands: {
      create: 'create a receiver and print its URL',
      list: "list the account's receivers",
      show: 'show one receiver and its URL',
      update: 'change the given settings',
      activate: 'let a receiver accept data',
      deactivate: 'make a receiver refuse data',
      delete: 'delete a receiver and revoke its tokens; its data stays in the stream',
    },
    options: {
      create: [
        ...receiverSettings,
        option('--kind <kind>', 'protocol that it accepts')
          .choices(receiverKinds)
          .makeOptionMandatory(),
        option('--stream <stream>', 'name or id of the stream that it feeds').makeOptionMandatory(),
        option('--inactive', 'refuse data until it is activated'),
      ],
      update: [
        ...receiverSettings,
        rename,
        option('--stream <stream>', 'name or id of the stream that it feeds from now on'),
        option('--allow-any', 'allow any address').conflicts('allow'),
      ],
    },
    toBody: toReceiver,
  },
  token: {
    examples: `
  weir token create checkout --receiver checkout
  weir token create grafana --scope logs:read --scope analytics:read --expires-at 2028-01-01
  weir token rotate checkout`,
    columns: 'tokenId name type scopes allAccounts expiresAt revokedAt lastUsedAt'.split(' '),
    commands: {
      create: 'create a token for a receiver (--receiver) or for reading and managing (--scope)',
      list: "list the account's tokens",
      show: 'show one token, without its secret',
      update: 'rename a token or change when it expires',
      rotate: 'replace the secret: the old one stops working, the new one is shown once',
      revoke: 'revoke a token permanently',
      delete: 'revoke and delete a token',
    },
    options: {
      create: [
        option('--receiver <receiver>', 'name or id of the receiver that it may send to'),
        option('--scope <scope>', `${accessScopes.join(', ')}; repeat it for more`, collect),
        option('--for-account <uuid>', 'account that it grants; repeat it for more', collect),
        option('--all-accounts', 'grant every account (with --scope operator)').conflicts(
          'forAccount',
        ),
        option('--expires-at <time>', 'when it stops working', toTime),
      ],
      update: [rename, option('--expires-at <time>', 'when it stops working, or never', toTime)],
    },
    toBody: toToken,
  },
  notifier: {
    examples: `
  weir notifier create on-call --kind alertmanager --endpoint https://alerts.example.com:9093
  weir notifier create chat --kind webhook --endpoint https://hooks.example.com/x --secret s3cret
  weir notifier delete chat`,
    columns: ['notifierId', 'name', 'kind', 'url', 'lastSuccessAt', 'lastFailureAt', 'lastFailure'],
    commands: {
      create: 'create a notifier',
      list: "list the account's notifiers",
      delete: 'delete a notifier',
    },
    options: {
      create: [
        option('--kind <kind>', 'format of the requests')
          .choices(notifierKinds)
          .makeOptionMandatory(),
        option('--endpoint <url>', 'URL of the webhook, or of Alertmanager').makeOptionMandatory(),
        option('--secret <text>', 'signs requests of a webhook'),
      ],
    },
    toBody: ({ endpoint, ...options }) => ({ ...options, url: endpoint }),
  },
  view: {
    examples: `
  weir view list
  weir view show "slow checkouts"
  weir view delete "slow checkouts"`,
    columns: ['viewId', 'name', 'query', 'updatedAt'],
    commands: {
      list: "list the account's saved views",
      show: 'show one saved view',
      delete: 'delete a saved view',
    },
  },
};

const whoamiExamples = `
Examples:
  weir whoami
  weir whoami --json | jq -r '.accounts[].accountId'`;

export function define(command: Command, terminal: Terminal): void {
  const resource = resources[command.name()];
  if (resource === undefined) {
    command.addHelpText('after', whoamiExamples).action(async (_options: object, self: Command) => {
      const { api, output } = openSession(self, terminal);
      const call = { method: 'GET', path: ['whoami'], inAccount: false } as const;
      output.record(await api.call<object>(call));
    });
    return;
  }
  command.addHelpText('afterAll', `\nExamples:${resource.examples}`);
  for (const [verb, description] of Object.entries(resource.commands)) {
    addVerb(command.command(verb).description(description), resource, terminal);
  }
  if (command.name() === 'token') addTokenRecover(command, terminal);
  if (command.name() === 'receiver') addPreviewTransform(command, terminal);
}

function addVerb(command: Command, resource: Resource, terminal: Terminal): void {
  const name = command.parent!.name();
  const { method, takes, below, body } = verbs[command.name()]!;
  if (takes === 'name') command.argument('<name>');
  if (takes === 'id') command.argument(`<${name}>`, 'its name or id');
  const options = resource.options?.[command.name()] ?? [];
  for (const each of options) command.addOption(each);
  const { toBody = toFields } = resource;
  command.action(async (...given: unknown[]) => {
    const { api, output } = openSession(command, terminal);
    const named = takes === 'name' ? { name: given[0] } : {};
    const fields = await withIds(api, { ...command.opts<Options>(), ...named });
    const id = takes === 'id' ? [await toId(api, name, String(given[0]))] : [];
    const response = await api.call<Record<string, object[]>>({
      method,
      path: [`${name}s`, ...id, ...(below === undefined ? [] : [below])],
      body: body ?? (options.length > 0 ? toBody(fields, command.name()) : undefined),
      inAccount: name !== 'account',
    });
    if (command.name() === 'list') output.list(response, resource.columns);
    else if (command.name() === 'delete') output.done(`deleted ${name} ${id.join()}`);
    else output.record(response);
  });
}

function option<T>(flags: string, help: string, parse?: (text: string, earlier: T) => T): Option {
  const made = new Option(flags, help);
  return parse === undefined ? made : made.argParser(parse);
}

function toFields(options: Options): object {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, value === cleared ? null : value]),
  );
}

/** What is undefined is left out of JSON. */
function toReceiver(options: Options): object {
  const { name, kind, stream, allow, allowAny, inactive, transform, ...limits } = options;
  return {
    name,
    kind,
    streamId: stream,
    allowedCidrs: allowAny === true ? [] : allow,
    active: inactive === true ? false : undefined,
    transform,
    limits: Object.keys(limits).length > 0 ? toFields(limits) : undefined,
  };
}

function toToken({ name, expiresAt, ...options }: Options, verb: string): object {
  const { receiver, scope, forAccount, allAccounts } = options;
  const changed = toFields({ name, expiresAt });
  if (verb === 'update') return changed;
  if (receiver !== undefined && (scope ?? forAccount ?? allAccounts) === undefined) {
    return { type: 'ingest', receiverId: receiver, ...changed };
  }
  if (receiver === undefined && scope !== undefined) {
    const accountIds = allAccounts === true ? [] : forAccount;
    return { type: 'access', scopes: scope, accountIds, ...changed };
  }
  throw new CommandError(
    'cannot choose the type of the token: give either --receiver, or --scope and its accounts',
    exitCodes.usage,
  );
}
