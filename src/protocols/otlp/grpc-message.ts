/**
 * gRPC framing: a compressed flag, the length in four bytes, and the message
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
import { AppError } from '../../model/errors.ts';
import type { BodyFormat, Unframed } from '../../model/protocol.ts';

export const frameHeadBytes = 5;

/**
 * The message of a unary call.
 * @param body the whole body; the message is a view of it
 * @param format its coding comes from `grpc-encoding` and applies if the flag of the frame is set
 * @throws AppError `malformed` unless the body is exactly one frame
 */
export function unframe(body: Buffer, { coding }: Pick<BodyFormat, 'coding'>): Unframed {
  if (body.length === 0) throw malformed('the call ended without one');
  if (body.length < frameHeadBytes) throw malformed('the call ended in the head of its frame');
  const flag = body.readUInt8(0);
  const length = body.readUInt32BE(1);
  const message = body.subarray(frameHeadBytes);
  if (flag > 1) throw malformed(`its compressed flag is ${flag}, not 0 or 1`);
  if (message.length < length) {
    throw malformed(`${message.length} bytes came of ${length} that its frame declares`);
  }
  if (message.length > length) {
    throw malformed(`${message.length - length} bytes follow it; send one message per call`);
  }
  if (flag === 0) return { message, coding: 'identity' };
  if (coding === 'identity') {
    throw malformed('its frame is marked compressed, but grpc-encoding names no compression');
  }
  return { message, coding };
}

/** Frames an uncompressed message. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(frameHeadBytes + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, frameHeadBytes);
  return framed;
}

function malformed(reason: string): AppError {
  return new AppError('malformed', `cannot read the gRPC message: ${reason}`);
}
