/**
 * The gRPC methods that are served, each as a function of a call: the counterpart of the table of
 * routes. A call becomes the same values as an HTTP request, and messages stay bytes.
 */
import assert from 'node:assert/strict';
import type { Admission } from '../admission/port.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Protocol } from '../model/protocol.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { toAppError } from './errors.ts';
import type { GrpcReply } from './grpc-answer.ts';
import { createHealthCheck } from './grpc-health.ts';
import type { GrpcCall } from './grpc-request.ts';
import type { Answers } from './health.ts';
import { answerHeaders } from './ingest-surface.ts';
import { toBytes } from './surface.ts';

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
  const { admission, missing, protocols } = parts;
  const methods = new Map<string, GrpcMethod>();
  const services: string[] = [];
  for (const protocol of protocols) {
    const { grpcMethod } = protocol;
    if (grpcMethod === undefined) continue;
    methods.set(`/${grpcMethod}`, createExport(parts, protocol));
    services.push(grpcMethod.slice(0, grpcMethod.indexOf('/')));
  }
  const health = { admission, missing, framing: grpcProtocolOf(protocols), services };
  return methods.set('/grpc.health.v1.Health/Check', createHealthCheck(health));
}

/** The protocol whose framing and error encoding serve calls of any gRPC method. */
export function grpcProtocolOf(protocols: readonly Protocol[]): Protocol {
  const protocol = protocols.find(({ grpcMethod }) => grpcMethod !== undefined);
  assert.ok(protocol, 'no protocol has a gRPC method');
  return protocol;
}

/** SPEC §4.1: the token names the receiver, because the method cannot. */
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
