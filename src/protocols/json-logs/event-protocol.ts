/** What all protocols of JSON events have in common: limits, codings and answers. */
import { z } from 'zod';
import { decodeLimits } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
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

/** An answer with a count, for OpenAPI. @param accepted of the example */
export function acceptedAnswer(description: string, accepted: number): AnswerDescription {
  const schema = z.looseObject({ accepted: z.int() });
  return {
    description,
    content: { 'application/json': { schema, examples: { all: { accepted } } } },
  };
}
