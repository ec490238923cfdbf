/** What reads around one log may be asked, as strict schemas. Pure. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { decodeLogId, type LogPosition } from '../model/log-id.ts';
import { integer, list, uuid } from './parameters.ts';

const maxAround = 200;
const sameForm = 'host or service';

export const logParams = z.object({
  logId: z.string().meta({ format: 'uuid', description: 'As it stands in a log.' }),
});

const streamId = list(uuid, 'Streams that it may be in: makes finding it cheaper.');

export const logQuery = z.strictObject({ streamId });

export const contextQuery = z.strictObject({
  streamId,
  before: integer(0, maxAround, 'Older logs; default 20.').default(20),
  after: integer(0, maxAround, 'Newer logs; default 20.').default(20),
  same: list(
    z.enum(['host', 'service'], { error: sameForm }),
    'Only logs of the same host, or of the same service and namespace. Repeated: both.',
  ),
});

export type LogQuery = z.output<typeof logQuery>;
export type ContextQuery = z.output<typeof contextQuery>;

/** @throws AppError `malformed` */
export function parseLogId(text: string): LogPosition {
  const position = decodeLogId(text);
  if (position !== undefined) return position;
  throw new AppError(
    'malformed',
    `cannot read logId ${JSON.stringify(text.slice(0, 80))}: it must be the logId of a log`,
    { parameter: 'logId' },
  );
}
