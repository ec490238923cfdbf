/** Routes of exports: directly with a token, or by a ticket in a link that a browser can open. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import {
  jsonResponse,
  type ReadRequest,
  type ReadRoute,
  StreamedResponse,
  type TicketRequest,
  type TicketRoute,
} from '../model/read-route.ts';
import { parseParameters, parseQuery, withQuery } from '../std/parse-query.ts';
import type { ExportTickets, HeldTicket } from './export-tickets.ts';
import type { Exporter, ExportRequest } from './exporter.ts';
import { exportQuery } from './requests.ts';

const mediaTypes = ['application/x-ndjson', 'text/csv'] as const;
const scope = 'logs:read';
const ticketPath = '/api/v1/exports';

const ticketParams = z.object({ ticket: z.string().describe('The ticket.') });

const ticketResponse = z.object({
  url: z.string().meta({
    description: 'Path on this address that serves the export once, without a token.',
    examples: ['/api/v1/exports/…'],
  }),
  expiresAt: z.string().meta({ format: 'date-time' }),
});

export function createExportRoutes(
  exporter: Exporter,
  tickets: ExportTickets,
): readonly ReadRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logs/export',
      operationId: 'exportLogs',
      summary: 'All matching logs as a file, newest first',
      scope,
      response: { mediaType: mediaTypes[0], otherMediaTypes: [mediaTypes[1]], schema: undefined },
      ...withQuery(exportQuery, (query, request: ReadRequest) =>
        exporter.open({ ...request, query }, request.signal),
      ),
    },
    {
      method: 'POST',
      path: '/api/v1/logs/export',
      operationId: 'createExportTicket',
      summary: 'A one-time link to an export, which needs no token',
      scope,
      response: jsonResponse(ticketResponse),
      ...withQuery(
        exportQuery,
        async (query, request: ReadRequest): Promise<z.output<typeof ticketResponse>> => {
          await exporter.check({ ...request, query });
          const { accountId, tokenDigest, search } = request;
          const sent = new URLSearchParams([...search]).toString();
          const issued = await tickets.issue({ accountId, tokenDigest, query: sent });
          const expiresAt = new Date(issued.expiresAtMs).toISOString();
          return { url: `${ticketPath}/${issued.ticket}`, expiresAt };
        },
      ),
    },
  ];
}

export function createTicketRoutes(
  exporter: Exporter,
  tickets: ExportTickets,
): readonly TicketRoute[] {
  return [
    {
      path: `${ticketPath}/:ticket`,
      operationId: 'fetchExport',
      summary: 'The export that a ticket was issued for',
      params: ticketParams,
      mediaTypes,
      scope,
      read: (request) => redeem(exporter, tickets, request),
    },
  ];
}

/** Checks the token again. A ticket that delivered nothing can be used again. */
async function redeem(
  exporter: Exporter,
  tickets: ExportTickets,
  { params, signal, permit }: TicketRequest,
): Promise<StreamedResponse> {
  const held = await tickets.take(params['ticket']!);
  try {
    const { accountId, query: search } = held.requested;
    const recheck = () => permit(held.requested);
    await checkToken(recheck);
    const query = parseQuery(exportQuery, parseParameters(search));
    const response = await exporter.open({ accountId, query, recheck }, signal);
    return new StreamedResponse(
      response.mediaType,
      spending(held, response.chunks),
      response.headers,
    );
  } catch (error) {
    await held.giveBack();
    throw error;
  }
}

/** A revoked token is 403 rather than 401: the reader of a ticket sends no token. */
async function checkToken(recheck: ExportRequest['recheck']): Promise<void> {
  try {
    await recheck();
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'unauthenticated') throw cause;
    const message = 'cannot export: the token that this ticket was issued to is no longer valid';
    throw new AppError('forbidden', message, { cause });
  }
}

async function* spending(
  held: HeldTicket,
  chunks: StreamedResponse['chunks'],
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
