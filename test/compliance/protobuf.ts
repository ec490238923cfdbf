/** Writes protobuf messages by hand, a field at a time, so that tests owe nothing to any decoder. */

/** One field: text and bytes are length-delimited, a bigint is a varint, a number a double. */
export function field(number: number, value: string | Uint8Array | bigint | number): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([varint(tag(number, 0)), varint(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return Buffer.concat([varint(tag(number, 1)), bytes]);
  }
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint(tag(number, 2)), varint(BigInt(bytes.length)), bytes]);
}

/** A fixed64, such as the times of OTLP. */
export function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(tag(number, 1)), bytes]);
}

/** A message field of fields. */
export function message(number: number, ...fields: readonly Uint8Array[]): Buffer {
  return field(number, Buffer.concat(fields));
}

function tag(number: number, wireType: number): bigint {
  return BigInt(number * 8 + wireType);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
