/** What an export may be asked, and what a ticket for one is answered with. Pure. */
import { z } from 'zod';
import { integer } from './parameters.ts';
import { filters, range } from './requests.ts';

const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const maxLimit = 999_999_999;

export const exportQuery = z.strictObject({
  ...filters,
  ...range,
  format: z
    .enum(exportFormats, { error: exportFormats.join(' or ') })
    .default('ndjson')
    .meta({ description: 'ndjson: a log as JSON on each line. csv: RFC 4180. Default ndjson.' }),
  limit: integer(1, maxLimit, 'Only the newest logs, so many of them; default: all.').optional(),
});

export type ExportQuery = z.output<typeof exportQuery>;

export const ticketParams = z.object({
  ticket: z.string().meta({ description: 'As it was given out.' }),
});

export const ticketResponse = z.object({
  url: z.string().meta({
    description: 'Where the export can be fetched, once, without a token; on this address.',
    examples: ['/api/v1/exports/…'],
  }),
  expiresAt: z.string().meta({ format: 'date-time' }),
});

export type TicketResponse = z.output<typeof ticketResponse>;
