/** Reads `google.rpc.Status` with a protobuf library, independent of Weir's code. */
import protobuf from 'protobufjs';

export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly RpcDetail[];
}

export type RpcDetail =
  | { readonly type: 'google.rpc.RetryInfo'; readonly seconds: number }
  | {
      readonly type: 'google.rpc.BadRequest';
      readonly violations: readonly { readonly field: string; readonly description: string }[];
    };

const { root } = protobuf.parse(`
  syntax = "proto3";
  package google;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message RetryInfo { Duration retry_delay = 1; }
  message BadRequest {
    message FieldViolation { string field = 1; string description = 2; }
    repeated FieldViolation field_violations = 1;
  }
`);

/** @throws Error for other bytes, or a detail of another type */
export function readRpcStatus(bytes: Uint8Array): RpcStatus {
  const { code, message, details } = read('Status', bytes) as unknown as {
    code: number;
    message: string;
    details: { typeUrl: string; value: Uint8Array }[];
  };
  return { code, message, details: details.map(({ typeUrl, value }) => toDetail(typeUrl, value)) };
}

function toDetail(typeUrl: string, value: Uint8Array): RpcDetail {
  switch (typeUrl) {
    case 'type.googleapis.com/google.rpc.RetryInfo': {
      const { retryDelay } = read('RetryInfo', value) as { retryDelay: { seconds: number } };
      return { type: 'google.rpc.RetryInfo', seconds: Number(retryDelay.seconds) };
    }
    case 'type.googleapis.com/google.rpc.BadRequest': {
      const { fieldViolations } = read('BadRequest', value) as {
        fieldViolations: { field: string; description: string }[];
      };
      return {
        type: 'google.rpc.BadRequest',
        violations: fieldViolations.map(({ field, description }) => ({ field, description })),
      };
    }
    default:
      throw new Error(`a detail of the unknown type ${typeUrl}`);
  }
}

function read(name: string, bytes: Uint8Array): Record<string, unknown> {
  const type = root.lookupType(`google.${name}`);
  return type.toObject(type.decode(bytes), { defaults: true, arrays: true, longs: Number });
}
