/**
 * Routes of the control API as plain data, which the server mounts and describes. Scope, account,
 * parameters and body are checked here for every route.
 */
import { z } from 'zod';
import type { Scope } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type AdminCaller, checkAccount, checkScope } from './authority.ts';
import type { AdminContext, HandlerContext } from './context.ts';

/** A request with a valid token; nothing else is checked. */
export interface AdminRequest {
  readonly caller: AdminCaller;
  /** From `X-Active-Account`; undefined if absent. */
  readonly accountId: string | undefined;
  readonly params: unknown;
  readonly body: unknown;
  /** `If-Match`; absent = none was sent. */
  readonly ifMatch?: string | undefined;
  /** Aborted when the client disconnects; absent: it does not. */
  readonly disconnected?: AbortSignal;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1/admin`; parameters as `:name`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Required scope of the token; undefined: any access token. */
  readonly scope: AdminScope | undefined;
  /** Whether `X-Active-Account` is required. */
  readonly accountScoped: boolean;
  readonly params: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** Absent = 64 KiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Undefined: the answer has no body. */
  readonly response: z.ZodType | undefined;
  readonly successStatus: 200 | 201 | 204;
  /** The answer has a `version`, which is sent as `ETag` too. */
  readonly isVersioned?: true | undefined;
  /** Compares `If-Match` with the version (RFC 9110 §13.1.1); throws `precondition_failed`. */
  readonly takesIfMatch?: true | undefined;
  /**
   * @returns the answer's body, or undefined.
   * @throws AppError `forbidden`, `malformed`, `not_found`, `conflict`, `unavailable`
   */
  readonly handle: (request: AdminRequest) => Promise<unknown>;
}

export type AdminScope = Extract<Scope, 'admin' | 'operator' | 'logs:read'>;

type Params = Readonly<Record<string, string>>;

interface Definition<Path extends Params, Body, Request>
  extends Pick<
    AdminRoute,
    'operationId' | 'summary' | 'maxBodyBytes' | 'isVersioned' | 'takesIfMatch'
  > {
  readonly endpoint: `${AdminRoute['method']} /${string}`;
  /** Default: `admin`; null: any access token. */
  readonly scope?: AdminScope | null;
  readonly params?: z.ZodObject & z.ZodType<Path>;
  readonly body?: z.ZodType<Body>;
  /** Absent: the answer has no body. */
  readonly response?: z.ZodType | undefined;
  /** Default: 200, or 204 without a response. */
  readonly successStatus?: AdminRoute['successStatus'];
  readonly handle: (request: Request, context: HandlerContext) => Promise<unknown>;
}

interface Checked<Path extends Params, Body> {
  readonly caller: AdminCaller;
  readonly params: Path;
  readonly body: Body;
  readonly ifMatch: string | undefined;
  readonly disconnected: AbortSignal | undefined;
}

interface CheckedInAccount<Path extends Params, Body> extends Checked<Path, Body> {
  readonly accountId: string;
}

/** The route of a service, which hands its parts to the handler. */
export type DefinedRoute = (context: AdminContext) => AdminRoute;

/** A route over all accounts; its handler checks which of them the caller manages. */
export function defineRoute<Path extends Params = Params, Body = undefined>(
  definition: Definition<Path, Body, Checked<Path, Body>>,
): DefinedRoute {
  return toRoute(definition, false, ({ caller, params, body, ifMatch, disconnected }) => {
    checkScope(caller, scopeOf(definition));
    return { caller, ifMatch, disconnected, ...parse(definition, params, body) };
  });
}

/** A route in the active account, which the caller manages. */
export function defineAccountRoute<Path extends Params = Params, Body = undefined>(
  definition: Definition<Path, Body, CheckedInAccount<Path, Body>>,
): DefinedRoute {
  return toRoute(definition, true, ({ caller, accountId, params, body, ...rest }) => {
    if (accountId === undefined) {
      throw new AppError('malformed', 'cannot determine the account: send X-Active-Account', {
        parameter: 'X-Active-Account',
      });
    }
    checkAccount(caller, accountId);
    checkScope(caller, scopeOf(definition));
    const { ifMatch, disconnected } = rest;
    return { caller, accountId, ifMatch, disconnected, ...parse(definition, params, body) };
  });
}

function toRoute<Path extends Params, Body, Request extends Checked<Path, Body>>(
  definition: Definition<Path, Body, Request>,
  accountScoped: boolean,
  check: (request: AdminRequest) => Request & { readonly accountId?: string },
): DefinedRoute {
  const { endpoint, params, body, response, ...rest } = definition;
  const [method, path] = endpoint.split(' ') as [AdminRoute['method'], string];
  const { successStatus = response === undefined ? 204 : 200 } = rest;
  const scope = scopeOf(definition);
  const route = { ...rest, method, path, scope, accountScoped, params, body, response };
  return (context) => ({
    ...route,
    successStatus,
    // Async, so that a failed check rejects.
    async handle(request) {
      const checked = check(request);
      const { tokenId } = checked.caller;
      const audit = (targetId: string): void => {
        const { accountId = targetId } = checked;
        const operation = definition.operationId;
        context.telemetry.adminChanged({ operation, tokenId, accountId, targetId });
      };
      const record = (targetId: string): void => {
        context.grants.invalidate();
        audit(targetId);
      };
      return definition.handle(checked, { ...context, audit, record });
    },
  });
}

function scopeOf({ scope = 'admin' }: { readonly scope?: AdminScope | null }) {
  return scope ?? undefined;
}

type Resource = 'stream' | 'receiver' | 'view' | 'token' | 'rule group' | 'notifier';

/** @throws AppError `not_found`, also for a resource of another account */
export function requireOwned<Found extends { readonly accountId: string }>(
  found: Found | undefined,
  kind: Resource,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Found {
  if (found?.accountId === accountId) return found;
  throw notFound(kind, id);
}

export function notFound(kind: Resource, id: string): AppError {
  return new AppError('not_found', `cannot find ${kind} ${id} in this account`);
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

/** Rejects a body that would be ignored; an empty object is accepted. */
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
