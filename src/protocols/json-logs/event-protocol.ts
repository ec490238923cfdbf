/** What all protocols of JSON events have in common: limits, codings, and partial answers. */
import { z } from 'zod';
import { decodeLimits } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { AnswerDescription, Protocol } from '../../model/protocol.ts';

/** A protocol without its name, route, decoder and answers. */
export function eventProtocol({ ingest }: Config) {
  const { jsonMaxBodyBytes: maxBodyBytes, jsonMaxEvents, jsonMaxDepth } = ingest;
  return {
    kind: 'http_json',
    codings: ['identity', 'gzip', 'deflate', 'zstd'],
    maxBodyBytes,
    limits: decodeLimits(jsonMaxEvents, jsonMaxDepth),
  } as const satisfies Partial<Protocol>;
}

/** For protocols that answer one text. @param events what they are called there */
export function describeRejections(batch: Batch, events: string): string {
  const { rows, rejectedCount, rejectedByReason } = batch;
  const reasons = [...rejectedByReason].map(([reason, count]) => `${count} ${reason}`).join(', ');
  return (
    `cannot store ${rejectedCount} of ${rejectedCount + rows} ${events} (${reasons}), ` +
    `the other ${rows} are stored`
  );
}

/** An answer with a count, for OpenAPI. @param accepted of the example */
export function acceptedAnswer(description: string, accepted: number): AnswerDescription {
  const schema = z.looseObject({ accepted: z.int() });
  return {
    description,
    content: { 'application/json': { schema, examples: { all: { accepted } } } },
  };
}
