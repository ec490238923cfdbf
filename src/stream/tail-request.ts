/**
 * What a tail may be asked: the filters of the list, but no range and no page, since it has no end.
 * Pure.
 */
import type { z } from 'zod';
import { type ArrivalPosition, decodeArrival } from '../model/arrival.ts';
import { AppError } from '../model/errors.ts';
import { integer } from './parameters.ts';
import { listQuery } from './requests.ts';

const maxLagSeconds = integer(
  1,
  300,
  'How far the reader may be behind before logs are left out for it; default 60.',
).default(60);

export const tailQuery = listQuery
  .omit({ sinceTime: true, untilTime: true, limit: true, cursor: true, since: true })
  .extend({ maxLagSeconds });

export type TailQuery = z.output<typeof tailQuery>;

/** @throws AppError `malformed` for what is no id of an event of a tail. */
export function parseLastEventId(text: string | undefined): ArrivalPosition | undefined {
  // What a client sends that has not seen an event yet.
  if (text === undefined || text === '') return undefined;
  const position = decodeArrival(text);
  if (position !== undefined) return position;
  const shown = JSON.stringify(text.slice(0, 80));
  throw new AppError(
    'malformed',
    `cannot resume after Last-Event-ID ${shown}: it must be the id of an event of a tail, ` +
      'or absent to begin now',
    { parameter: 'Last-Event-ID' },
  );
}
