/**
 * The fields that OTLP's small answers are made of, in protobuf's wire format
 * (https://protobuf.dev/programming-guides/encoding). It knows no message; a message is its fields
 * put together.
 */

/** Of an int32, int64 or enum that is not negative. Empty for 0, which proto3 leaves out. */
export function varintField(number: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.from([...varint(number * 8), ...varint(value)]);
}

/** Of a string, bytes or a message. Written even when it is empty: a message may be present so. */
export function bytesField(number: number, value: Uint8Array | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const head = Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]);
  return Buffer.concat([head, bytes]);
}

const nothing = Buffer.alloc(0);

/** Divided, not shifted: a count may need more than 32 bits. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return bytes;
}
