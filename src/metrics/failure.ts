/**
 * Failures as clients of Prometheus read them, with the members of problem+json (RFC 9457) beside
 * `errorType` and `error`: whoever reads errors of other routes finds the same here. Pure.
 */
import { z } from 'zod';
import type { ErrorCode } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';
import type { ReadFailure } from '../model/read-route.ts';

const failureSchema = z.object({
  status: z.literal('error'),
  errorType: z.string().meta({ examples: ['bad_data'] }),
  error: z.string().meta({ description: 'What cannot be done, and what to change.' }),
  type: z.string().meta({ description: 'urn:weir:problem: and the code.' }),
  code: z.string(),
  title: z.string(),
  detail: z.string().meta({ description: 'The same as error.' }),
  requestId: z.string().meta({ description: 'Names this request in the log of the service.' }),
  parameter: z.string().optional().meta({ description: 'The parameter or field at fault.' }),
});

/** Prometheus' own types where it has one, web/api/v1/api.go in its source. */
const errorTypes: Readonly<Record<ErrorCode, string>> = {
  malformed: 'bad_data',
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  not_found: 'not_found',
  method_not_allowed: 'bad_data',
  conflict: 'bad_data',
  too_large: 'execution',
  unsupported_media: 'bad_data',
  quota_exceeded: 'too_many_requests',
  timeout: 'timeout',
  unavailable: 'unavailable',
  internal: 'internal',
};

export const prometheusFailure: ReadFailure = { schema: failureSchema, encode };

function encode({ code, title, detail, requestId, parameter }: Problem) {
  const body: z.output<typeof failureSchema> = {
    status: 'error',
    errorType: errorTypes[code as ErrorCode] ?? 'internal',
    error: detail,
    type: `urn:weir:problem:${code}`,
    code,
    title,
    detail,
    requestId,
    ...(parameter !== undefined && { parameter }),
  };
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}
