/** Schemas of the requests and answers of the control API, for validation and OpenAPI. */
import { z } from 'zod';
import { accessScopes, ingestScopes, receiverKinds } from '../model/account.ts';
import { parseDownsampling } from '../model/downsampling.ts';
import { transformSchema } from '../transform/spec.ts';
import { isCidr } from './cidr.ts';

const maxRate = 1_000_000_000;
const maxBytes = 1024 * 1024 * 1024;

export const nameText = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, 'must not contain control characters');
const name = nameText.meta({
  description: '1 to 100 characters, no control characters.',
  example: 'checkout',
});

const accountId = z.guid().toLowerCase().meta({ example: '3f6f0c1e-8a54-4c1b-9d0e-1f2a3b4c5d6e' });
const streamId = z.guid().toLowerCase().meta({ example: 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70' });
const receiverId = z.string().min(1).max(64).meta({ example: 'rcv_abcdefghijklmnopqrstuvwxyz' });
const tokenId = z.string().min(1).max(64).meta({ example: 'tok_abcdefghijklmnopqrstuvwxyz' });

export const time = z.iso
  .datetime({ offset: true })
  .meta({ description: 'RFC 3339.', example: '2027-01-01T00:00:00.000Z' });

const eventsPerSecond = z
  .int()
  .min(1)
  .max(maxRate)
  .nullable()
  .meta({ description: 'Events per second; null = unlimited.', example: 5000 });

const retentionDays = z
  .int()
  .min(1)
  .max(3650)
  .meta({ description: 'Retention in days, counted from receipt.', example: 30 });

const downsampling = z
  .string()
  .max(100)
  .refine(
    (text) => parseDownsampling(text) !== undefined,
    'must be levels such as 30d:5m or 30d:5m,180d:1h, each a multiple of the one before',
  )
  .nullable()
  .meta({
    description:
      'Levels at which old metrics are downsampled: `30d:5m` keeps the last sample of each 5 ' +
      'minutes 30 days after receipt; null = all samples.',
    example: '30d:5m,180d:1h',
  });

const allowedCidrs = z
  .array(
    z
      .string()
      .max(64)
      .refine(isCidr, 'must be an address range such as 10.0.0.0/8 or 2001:db8::/32'),
  )
  .max(100)
  .meta({
    description: 'Address ranges that may send; empty = any.',
    example: ['10.0.0.0/8', '2001:db8::/32'],
  });

const limitFields = {
  eventsPerSecond,
  burstEvents: z.int().min(1).max(maxRate).nullable().meta({
    description: 'Burst size in events; null = ten seconds of the rate.',
    example: 50_000,
  }),
  maxBodyBytes: z.int().min(1).max(maxBytes).nullable().meta({
    description: "Largest body in bytes; null = the route's own cap.",
    example: 1_048_576,
  }),
};
const limitsChange = z.strictObject(optional(limitFields));

const receiverKind = z.enum(receiverKinds).describe('The protocol it accepts.');
const accessScope = z.enum(accessScopes);

export const accountParams = z.object({ accountId });
export const streamParams = z.object({ streamId });
export const receiverParams = z.object({ receiverId });
export const tokenParams = z.object({ tokenId });

export const newAccount = z.strictObject({
  name,
  eventsPerSecond: eventsPerSecond.default(null),
});
export const accountChange = changeOf({ name, eventsPerSecond });
export const accountAnswer = z.object({
  accountId,
  name,
  eventsPerSecond,
  createdAt: time,
});
export const accountsAnswer = z.object({ accounts: z.array(accountAnswer) });

export const newStream = z.strictObject({
  name,
  retentionDays: retentionDays.default(30),
  downsampling: downsampling.default(null),
});
export const streamChange = changeOf({ name, retentionDays, downsampling });
export const streamAnswer = z.object({
  streamId,
  accountId,
  name,
  retentionDays,
  downsampling,
  dataDeletedUntil: time.nullable().describe('Data received before is deleted; null = none.'),
  createdAt: time,
});
export const streamsAnswer = z.object({ streams: z.array(streamAnswer) });

export const newReceiver = z.strictObject({
  name,
  kind: receiverKind,
  streamId,
  active: z.boolean().default(true),
  allowedCidrs: allowedCidrs.default([]),
  limits: limitsChange.default({}),
  transform: transformSchema.default([]),
});
export const receiverChange = changeOf({
  name,
  active: z.boolean(),
  allowedCidrs,
  streamId,
  limits: limitsChange,
  transform: transformSchema,
});
export const receiverAnswer = z.object({
  receiverId,
  accountId,
  streamId,
  name,
  kind: receiverKind,
  active: z.boolean().describe('Only an active receiver accepts data.'),
  allowedCidrs,
  limits: z.object(limitFields),
  transform: transformSchema,
  createdAt: time,
  url: z.url().optional().describe('The exact URL to send to (kinds http_json and otlp).'),
  grpc: z.string().optional().describe('Host and port for gRPC (kind otlp).'),
  metricsUrl: z.url().optional().describe('OTLP metrics (kind otlp).'),
  linesUrl: z.url().optional().describe('NDJSON, text lines and logfmt (kind http_json).'),
  pushUrl: z.url().optional().describe('Text push (kind prometheus).'),
  writeUrl: z.url().optional().describe('remote_write 1.0 (kind prometheus).'),
  writeV2Url: z.url().optional().describe('remote_write 2.0 (kind prometheus).'),
  caFile: z
    .string()
    .optional()
    .describe('CA certificate that senders on this machine need; absent for other addresses.'),
});
const sampleFields = z
  .record(z.string().max(200), z.string().max(16_384))
  .refine((fields) => Object.keys(fields).length <= 256, 'has more than 256 fields')
  .meta({ example: { message: 'card 4111 1111 1111 1111', severity: 'INFO' } });
export const transformPreview = z.strictObject({
  transform: transformSchema.optional().describe('Default: that of the receiver.'),
  samples: z
    .array(sampleFields)
    .min(1)
    .max(100)
    .describe('Logs as fields by name: message, severity, service_name, … and labels.'),
});
export const transformPreviewAnswer = z.object({
  results: z.array(
    z.object({
      after: z.record(z.string(), z.string()).optional().describe('Absent = dropped.'),
      changes: z.array(z.string()).describe('As counted in the statistics.'),
    }),
  ),
  dropped: z.int(),
});

export const receiversAnswer = z.object({ receivers: z.array(receiverAnswer) });

const expiresAt = time.nullable().describe('Expiry, in the future; null = never.');
export const newToken = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ingest'),
    name,
    receiverId,
    scopes: z.array(z.enum(ingestScopes)).max(ingestScopes.length).default(['ingest:write']),
    expiresAt: expiresAt.default(null),
  }),
  z.strictObject({
    type: z.literal('access'),
    name,
    accountIds: z
      .array(accountId)
      .max(1000)
      .optional()
      .describe('Accounts it grants; default: the active one. Empty = all, for operator tokens.'),
    scopes: z.array(accessScope).min(1).max(accessScopes.length),
    expiresAt: expiresAt.default(null),
  }),
]);
export const tokenChange = changeOf({ name, expiresAt });
export const tokenAnswer = z.object({
  tokenId,
  type: z.enum(['ingest', 'access']),
  name,
  accountIds: z
    .array(accountId)
    .describe('Accounts it grants, of those that the requesting token manages.'),
  allAccounts: z.boolean().describe('Whether it grants every account.'),
  receiverId: receiverId.nullable(),
  scopes: z.array(z.enum([...ingestScopes, ...accessScopes])),
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable().describe('Written at most once a minute.'),
  createdAt: time,
});
export const tokensAnswer = z.object({ tokens: z.array(tokenAnswer) });
export const issuedTokenAnswer = tokenAnswer.extend({
  token: z.string().meta({
    description: 'The secret to send as Bearer token; only in this response.',
    example: 'wri_…',
  }),
});

const viewId = z.guid().toLowerCase().meta({ example: '5f0c7d52-9c2f-4b6e-8f7e-0d1c2b3a4958' });
const viewQuery = z
  .string()
  .max(8_000)
  .regex(/^[^?\p{Cc}\p{Cs}\u2028\u2029][^\p{Cc}\p{Cs}\u2028\u2029]*$|^$/u, {
    error: 'must not begin with "?" or contain control characters',
  })
  .meta({
    description:
      'Query string of an explorer URL, without ?; at most 8,000 characters, no ' +
      'control characters.',
    example: 'search=timeout&severity=ERROR',
  });
export const viewParams = z.object({ viewId });
export const newView = z.strictObject({ name, query: viewQuery });
export const viewChange = changeOf({ name, query: viewQuery });
export const viewAnswer = z.object({
  viewId,
  name,
  query: viewQuery,
  createdAt: time,
  updatedAt: time,
});
export const viewsAnswer = z.object({ views: z.array(viewAnswer) });

export const whoamiAnswer = z.object({
  tokenId,
  scopes: z.array(z.enum([...ingestScopes, ...accessScopes])),
  accounts: z.array(accountAnswer.pick({ accountId: true, name: true })),
});

/** Accepts any of the fields, and at least one. */
function changeOf<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(optional(fields))
    .refine((change) => Object.keys(change).length > 0, 'give at least one field to change');
}

type Optional<Fields extends z.ZodRawShape> = {
  [Name in keyof Fields]: z.ZodExactOptional<Fields[Name]>;
};

function optional<Fields extends z.ZodRawShape>(fields: Fields): Optional<Fields> {
  const entries = Object.entries(fields).map(([key, type]) => [key, z.exactOptional(type)]);
  return Object.fromEntries(entries) as Optional<Fields>;
}
