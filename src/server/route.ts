/** What a route is, as plain data: the surfaces mount it, and the OpenAPI documents describe it. */
import type { AdminRoute } from '../admin/routes.ts';
import type { IngestDescription, Protocol } from '../model/protocol.ts';
import type { ReadRoute, TicketRoute } from '../model/read-route.ts';

/** Data comes in; `:receiverId` stands in the path. */
export interface IngestRoute {
  readonly method: 'POST';
  readonly path: string;
  readonly protocol: Protocol;
  readonly description: IngestDescription;
  /** Unknown paths below this one are answered by the protocol's `encodeProblem`. */
  readonly prefix: string | undefined;
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
  readonly body: Uint8Array | string;
  /** Present where a client may keep the answer and ask whether it still holds. */
  readonly etag?: string;
}

export interface RouteTable {
  readonly ingest: { readonly data: readonly IngestRoute[]; readonly open: readonly OpenRoute[] };
  readonly stream: {
    /** One account's data. */
    readonly reads: readonly ReadRoute[];
    /** What was asked for before, for browsers that send no header with a download. */
    readonly tickets: readonly TicketRoute[];
    /** Below `/api/v1/admin`. */
    readonly admin: readonly AdminRoute[];
    readonly open: readonly OpenRoute[];
  };
  readonly ops: { readonly open: readonly OpenRoute[] };
}
