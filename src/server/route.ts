/** What a route is, as plain data: the surfaces mount it, and the OpenAPI documents describe it. */
import type { z } from 'zod';
import type { AdminRoute } from '../admin/routes.ts';
import type { Scope } from '../model/account.ts';
import type { Protocol } from '../model/protocol.ts';
import type { IngestDescription } from './openapi-ingest.ts';

/** Data comes in; `:receiverId` stands in the path. */
export interface IngestRoute {
  readonly method: 'POST';
  readonly path: string;
  readonly protocol: Protocol;
  readonly description: IngestDescription;
}

/** A read of one account's data. */
export interface ReadRoute {
  readonly method: 'GET';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly scope: Scope;
  /** Documents the parameters that `read` accepts. */
  readonly query: z.ZodObject;
  readonly response: z.ZodType;
  /** @throws AppError `malformed` | `not_found` | `unavailable` */
  readonly read: (accountId: string, search: URLSearchParams) => Promise<unknown>;
}

/** Open to everyone: no token, no account. */
export interface OpenRoute {
  readonly method: 'GET';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly answers: Readonly<Record<number, string>>;
  readonly answer: () => Promise<OpenAnswer>;
}

export interface OpenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface RouteTable {
  readonly ingest: { readonly data: readonly IngestRoute[]; readonly open: readonly OpenRoute[] };
  readonly stream: {
    readonly reads: readonly ReadRoute[];
    /** Below `/api/v1/admin`. */
    readonly admin: readonly AdminRoute[];
    readonly open: readonly OpenRoute[];
  };
  readonly ops: { readonly open: readonly OpenRoute[] };
}
