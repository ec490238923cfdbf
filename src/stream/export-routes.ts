/**
 * The routes of exports as plain data: at once for whoever sends a token, by a ticket for a
 * browser.
 */
import { AppError } from '../model/errors.ts';
import { parseQuery } from '../std/parse-query.ts';
import {
  jsonResponse,
  type ReadRequest,
  type ReadRoute,
  StreamedAnswer,
  type TicketRequest,
  type TicketRoute,
} from '../model/read-route.ts';
import {
  exportQuery,
  ticketParams,
  ticketResponse,
  type TicketResponse,
} from './export-request.ts';
import type { ExportTickets, HeldTicket } from './export-tickets.ts';
import type { AskedExport, Exporter } from './exporter.ts';

const mediaTypes = ['application/x-ndjson', 'text/csv'] as const;
const scope = 'logs:read';

export function createExportRoutes(
  exporter: Exporter,
  tickets: ExportTickets,
): readonly ReadRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logs/export',
      operationId: 'exportLogs',
      summary: 'All logs that match, newest first, as a file',
      scope,
      query: exportQuery,
      response: { mediaType: mediaTypes[0], otherMediaTypes: [mediaTypes[1]], schema: undefined },
      read: (request) => exporter.open(toAsked(request), request.signal),
    },
    {
      method: 'POST',
      path: '/api/v1/logs/export',
      operationId: 'createExportTicket',
      summary: 'A link to an export that works once and without a token',
      scope,
      query: exportQuery,
      response: jsonResponse(ticketResponse),
      read: async (request): Promise<TicketResponse> => {
        const asked = toAsked(request);
        await exporter.check(asked);
        const { accountId, tokenDigest, search } = request;
        const query = search.toString();
        const { ticket, expiresAtMs } = await tickets.issue({ accountId, tokenDigest, query });
        const expiresAt = new Date(expiresAtMs).toISOString();
        return { url: `${ticketPath}/${ticket}`, expiresAt };
      },
    },
  ];
}

const ticketPath = '/api/v1/exports';

export function createTicketRoutes(
  exporter: Exporter,
  tickets: ExportTickets,
): readonly TicketRoute[] {
  return [
    {
      path: `${ticketPath}/:ticket`,
      operationId: 'fetchExport',
      summary: 'The export that a ticket was given out for',
      params: ticketParams,
      mediaTypes,
      scope,
      read: (request) => redeem(exporter, tickets, request),
    },
  ];
}

function toAsked({
  accountId,
  search,
  recheck,
}: Pick<ReadRequest, 'accountId' | 'search' | 'recheck'>): AskedExport {
  return { accountId, query: parseQuery(exportQuery, search), recheck };
}

/** With the rights that the token has now. A ticket that brought nothing can be used again. */
async function redeem(
  exporter: Exporter,
  tickets: ExportTickets,
  { params, signal, permit }: TicketRequest,
): Promise<StreamedAnswer> {
  const held = await tickets.take(params['ticket']!);
  try {
    const { accountId, query } = held.asked;
    const recheck = () => permit(held.asked);
    const asked = toAsked({ accountId, search: new URLSearchParams(query), recheck });
    await checkToken(asked);
    const { mediaType, chunks, headers } = await exporter.open(asked, signal);
    return new StreamedAnswer(mediaType, spending(held, chunks), headers);
  } catch (error) {
    await held.giveBack();
    throw error;
  }
}

/** The reader of a ticket sends no token that could be wrong. */
async function checkToken({ recheck }: AskedExport): Promise<void> {
  try {
    await recheck();
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'unauthenticated') throw cause;
    const message = 'cannot export: the token that asked for this ticket is no longer in force';
    throw new AppError('forbidden', message, { cause });
  }
}

async function* spending(
  held: HeldTicket,
  chunks: StreamedAnswer['chunks'],
): AsyncGenerator<Uint8Array | string> {
  try {
    for await (const chunk of chunks) {
      held.spend();
      yield chunk;
    }
    held.spend();
  } finally {
    await held.giveBack();
  }
}
