/**
 * What a route of the control API is, as plain data that an edge can mount and describe. Checking
 * scope, account, parameters and body happens here, so that no transport can forget it.
 */
import { z } from 'zod';
import type { Scope } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type AdminCaller, checkAccount, checkScope } from './authority.ts';

/** A request as the edge hands it over: the caller's token is in force, nothing else is checked. */
export interface AdminRequest {
  readonly caller: AdminCaller;
  /** Of `X-Active-Account`; undefined where the request has none. */
  readonly accountId: string | undefined;
  readonly params: unknown;
  readonly body: unknown;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/v1/admin`; parameters as `:name`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What the caller's token must carry; undefined = any access token will do. */
  readonly scope: AdminScope | undefined;
  /** Whether it works inside the account of `X-Active-Account`, which is then required. */
  readonly accountScoped: boolean;
  readonly params: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** Undefined where the answer has no body (204). */
  readonly response: z.ZodType | undefined;
  readonly successStatus: 200 | 201 | 204;
  /**
   * @returns the answer's body, or undefined.
   * @throws AppError `forbidden`, `malformed`, `not_found`, `conflict`, `unavailable`
   */
  readonly handle: (request: AdminRequest) => Promise<unknown>;
}

export type AdminScope = Extract<Scope, 'admin' | 'operator' | 'logs:read'>;

type Params = Readonly<Record<string, string>>;

interface Definition<Path extends Params, Body, Request>
  extends Omit<AdminRoute, 'params' | 'body' | 'handle' | 'accountScoped'> {
  readonly params?: z.ZodObject & z.ZodType<Path>;
  readonly body?: z.ZodType<Body>;
  readonly handle: (request: Request) => Promise<unknown>;
}

interface Checked<Path extends Params, Body> {
  readonly caller: AdminCaller;
  readonly params: Path;
  readonly body: Body;
}

interface CheckedInAccount<Path extends Params, Body> extends Checked<Path, Body> {
  readonly accountId: string;
}

/** A route over all accounts; its handler decides which of them the caller may touch. */
export function defineRoute<Path extends Params = Params, Body = undefined>(
  definition: Definition<Path, Body, Checked<Path, Body>>,
): AdminRoute {
  return {
    ...definition,
    accountScoped: false,
    params: definition.params,
    body: definition.body,
    handle: async ({ caller, params, body }) => {
      checkScope(caller, definition.scope);
      return definition.handle({ caller, ...parse(definition, params, body) });
    },
  };
}

/** A route inside the active account, which the caller has been found to manage. */
export function defineAccountRoute<Path extends Params = Params, Body = undefined>(
  definition: Definition<Path, Body, CheckedInAccount<Path, Body>>,
): AdminRoute {
  return {
    ...definition,
    accountScoped: true,
    params: definition.params,
    body: definition.body,
    handle: async ({ caller, accountId, params, body }) => {
      if (accountId === undefined) {
        throw new AppError('malformed', 'cannot tell the account: send X-Active-Account', {
          parameter: 'X-Active-Account',
        });
      }
      checkAccount(caller, accountId);
      checkScope(caller, definition.scope);
      return definition.handle({ caller, accountId, ...parse(definition, params, body) });
    },
  };
}

function parse<Path extends Params, Body>(
  schemas: { readonly params?: z.ZodType<Path>; readonly body?: z.ZodType<Body> },
  params: unknown,
  body: unknown,
): { params: Path; body: Body } {
  return {
    params: schemas.params ? parseWith(schemas.params, params, 'path') : ({} as Path),
    body: schemas.body ? parseWith(schemas.body, body, 'body') : noBody(body),
  };
}

function parseWith<Value>(schema: z.ZodType<Value>, value: unknown, where: string): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw toMalformed(parsed.error, where);
}

/** A body that nobody reads is a mistake of its sender; an empty object is none. */
function noBody<Body>(body: unknown): Body {
  const empty = z.strictObject({}).optional().nullable().safeParse(body);
  if (empty.success) return undefined as Body;
  throw new AppError('malformed', 'cannot accept a body: this route takes none');
}

function toMalformed(error: z.ZodError, where: string): AppError {
  const faults = error.issues.flatMap(toFaults);
  const first = faults[0];
  return new AppError(
    'malformed',
    `cannot accept the ${where}: ${faults.map((fault) => fault.text).join('; ')}`,
    { cause: error, ...(first?.field && { parameter: first.field }) },
  );
}

interface Fault {
  readonly field: string;
  readonly text: string;
}

function toFaults(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const field = [...path, key].join('.');
      return { field, text: `unknown field ${JSON.stringify(field)}` };
    });
  }
  const field = path.join('.');
  const message = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return [{ field, text: field === '' ? message : `${field}: ${message}` }];
}
