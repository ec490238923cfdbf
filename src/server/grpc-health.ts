/**
 * `grpc.health.v1.Health/Check`, open to everyone: whether Weir can do its work, as `/readyz` says
 * it, in one word and no more.
 * https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
import type { Admission, MemoryLease } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { GrpcReply } from './grpc-answer.ts';
import type { GrpcCall } from './grpc-request.ts';
import type { Answers } from './health.ts';

export interface HealthParts extends Pick<Answers, 'missing'> {
  readonly admission: Pick<Admission, 'bodyFormat' | 'readBody' | 'inflate'>;
  /** Undoes gRPC's framing and codings, for any message. */
  readonly framing: Protocol;
  /** Full names of the services that may be asked for, besides the server as a whole. */
  readonly services: readonly string[];
}

/** The longest name that is ours, framed, takes less. */
const maxRequestBytes = 256;
/** `HealthCheckResponse` with `status` 1 or 2, framed. */
const serving = Buffer.from([0, 0, 0, 0, 2, 8, 1]);
const notServing = Buffer.from([0, 0, 0, 0, 2, 8, 2]);

/** So little that it needs no share of the memory in flight: a probe must not fail under load. */
const ownMemory: MemoryLease = {
  growTo: () => {},
  coverHeap: () => {},
  buffer: (bytes) => Buffer.alloc(bytes),
  release: () => {},
};

export function createHealthCheck(parts: HealthParts): (call: GrpcCall) => Promise<GrpcReply> {
  const known = ['', ...parts.services].map(toRequestMessage);
  return async (call) => {
    const asked = await readMessage(call, parts);
    if (asked.length > 0 && !known.some((message) => message.equals(asked))) {
      throw new AppError('not_found', 'cannot tell the health of this service: it is not known');
    }
    const missing = await parts.missing();
    return { body: missing.length === 0 ? serving : notServing, metadata: {} };
  };
}

/** `HealthCheckRequest` has one field, so a request for a name is always the same few bytes. */
function toRequestMessage(service: string): Buffer {
  return Buffer.concat([Buffer.from([10, service.length]), Buffer.from(service)]);
}

/** @throws AppError `unsupported_media` | `malformed` | `too_large` | `timeout` */
async function readMessage(
  { headers, body }: GrpcCall,
  { admission, framing }: HealthParts,
): Promise<Buffer> {
  const format = admission.bodyFormat(headers, framing);
  const bytes = await admission.readBody(body, maxRequestBytes, ownMemory);
  const { message, coding } = framing.unframe?.(bytes, format) ?? {
    message: bytes,
    coding: 'identity',
  };
  return admission.inflate(message, coding, { maxBytes: maxRequestBytes, memory: ownMemory });
}
