/**
 * What the reads of metrics may be asked: the parameters of Prometheus' API, and `streamId` of our
 * own. Others are passed over, since stock clients send some that are meant for other servers.
 * Pure.
 */
import { z } from 'zod';
import { limit, list, time, uuid } from './parameters.ts';

const streamId = list(uuid, 'Stream to read; default: all of the account. Repeated: any of them.');

const selector = z.string().meta({ example: 'up{job="api"}' });

const range = {
  start: time('Only what was measured then or later; default: a day before the end.'),
  end: time('Only what was measured then or earlier; default: now.'),
};

export const seriesQuery = z.object({
  'match[]': list(selector, 'Series selector. Repeated: series that fit any of them.'),
  ...range,
  limit: limit('Most answers wanted; 0 or absent: all, up to the limit of the service.'),
  streamId,
});

export const metadataQuery = z.object({
  metric: z.string().optional().meta({ description: 'One metric; default: all.' }),
  limit: limit('Most metrics wanted; 0 or absent: all, up to the limit of the service.'),
  limit_per_metric: limit('Most entries wanted of each metric; 0 or absent: all.'),
  streamId,
});

export const exemplarsQuery = z.object({
  query: selector.meta({ description: 'One series selector.' }),
  ...range,
  streamId,
});

export const noQuery = z.object({});

export const labelParams = z.object({
  name: z.string().meta({
    description: 'Name of the label; escaped with U__ where it is no plain word.',
    example: '__name__',
  }),
});

export type SeriesQuery = z.output<typeof seriesQuery>;
export type MetadataQuery = z.output<typeof metadataQuery>;
export type ExemplarsQuery = z.output<typeof exemplarsQuery>;
