/**
 * The gRPC methods: one per protocol that has one, and the health check.
 * https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
import assert from 'node:assert/strict';
import type { Admission } from '../admission/port.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { toAppError } from './errors.ts';
import type { GrpcCall, GrpcReply } from './grpc-wire.ts';
import { answerHeaders } from './ingest-surface.ts';
import type { Answers } from './open-routes.ts';
import { toBytes } from './surface.ts';
import { uncountedMemory } from './transport.ts';

/** @throws AppError; anything else is a bug */
export type GrpcMethod = (call: GrpcCall) => Promise<GrpcReply>;

/** By path: `/<full name of the service>/<method>`. */
export type GrpcMethods = ReadonlyMap<string, GrpcMethod>;

export interface GrpcParts extends Pick<Answers, 'missing'> {
  readonly admission: Admission;
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
  readonly protocols: readonly Protocol[];
}

export const noGrpcMethods: GrpcMethods = new Map();

export function createGrpcMethods(parts: GrpcParts): GrpcMethods {
  const methods = new Map<string, GrpcMethod>();
  const services: string[] = [];
  for (const protocol of parts.protocols) {
    const { grpcMethod } = protocol;
    if (grpcMethod === undefined) continue;
    methods.set(`/${grpcMethod}`, createExport(parts, protocol));
    services.push(grpcMethod.slice(0, grpcMethod.indexOf('/')));
  }
  return methods.set('/grpc.health.v1.Health/Check', createHealthCheck(parts, services));
}

/** The protocol whose framing and error encoding serve calls of any gRPC method. */
export function grpcProtocolOf(protocols: readonly Protocol[]): Protocol {
  const protocol = protocols.find(({ grpcMethod }) => grpcMethod !== undefined);
  assert.ok(protocol, 'no protocol has a gRPC method');
  return protocol;
}

/** The method names no receiver: the token does (SPEC §4.1). */
function createExport({ ingest, ingestEvents }: GrpcParts, protocol: Protocol): GrpcMethod {
  return async (call) => {
    try {
      const answer = await ingest.ingest({ receiverId: undefined, ...call }, protocol);
      return { body: toBytes(answer.reply.body), metadata: answerHeaders(answer) };
    } catch (fault) {
      ingestEvents.refused(protocol.name, toAppError(fault).code);
      throw fault;
    }
  };
}

/** The longest request for a known service, framed, is shorter. */
const maxHealthBytes = 256;
/** `HealthCheckResponse` with `status` 1 or 2, framed. */
const serving = Buffer.from([0, 0, 0, 0, 2, 8, 1]);
const notServing = Buffer.from([0, 0, 0, 0, 2, 8, 2]);

/** Needs no token, and no share of the memory in flight: a probe must succeed under load. */
function createHealthCheck(
  { admission, missing, protocols }: GrpcParts,
  services: readonly string[],
): GrpcMethod {
  const framing = grpcProtocolOf(protocols);
  const known = ['', ...services].map(toHealthRequest);
  return async ({ headers, body }) => {
    const format = admission.bodyFormat(headers, framing);
    const bytes = await admission.readBody(body, maxHealthBytes, uncountedMemory);
    const { message, coding } = framing.unframe?.(bytes, format) ?? {
      message: bytes,
      coding: 'identity',
    };
    const cap = { maxBytes: maxHealthBytes, memory: uncountedMemory };
    const sent = await admission.inflate(message, coding, cap);
    if (sent.length > 0 && !known.some((request) => request.equals(sent))) {
      throw new AppError('not_found', 'cannot report the health of this service: it is unknown');
    }
    return { body: (await missing()).length === 0 ? serving : notServing, metadata: {} };
  };
}

/** `HealthCheckRequest` has one field, so each service has one encoding. */
function toHealthRequest(service: string): Buffer {
  return Buffer.concat([Buffer.from([10, service.length]), Buffer.from(service)]);
}
