/**
 * The gRPC methods that are served, each as a function of a call: the counterpart of the table of
 * routes. A call becomes the same values as an HTTP request, and messages stay bytes.
 */
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
  readonly protocols: { readonly otlpGrpc: Protocol };
}

const logsService = 'opentelemetry.proto.collector.logs.v1.LogsService';

export const noGrpcMethods: GrpcMethods = new Map();

export function createGrpcMethods(parts: GrpcParts): GrpcMethods {
  const { admission, missing, protocols } = parts;
  const health = { admission, missing, framing: protocols.otlpGrpc, services: [logsService] };
  return new Map([
    [`/${logsService}/Export`, createExport(parts)],
    ['/grpc.health.v1.Health/Check', createHealthCheck(health)],
  ]);
}

/** SPEC §4.1: the method names no receiver, so the token does. */
function createExport({ ingest, ingestEvents, protocols }: GrpcParts): GrpcMethod {
  const protocol = protocols.otlpGrpc;
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
