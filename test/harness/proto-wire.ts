/**
 * The wire format of protobuf (https://protobuf.dev/programming-guides/encoding), independent of
 * Weir's code.
 */

/** A varint or fixed number, or length-delimited bytes. */
export type Field = readonly [field: number, content: bigint | Buffer];

/** Messages or texts of one field. */
export function messagesOf(bytes: Buffer, wanted: number): Buffer[] {
  return fieldsOf(bytes).flatMap(([field, content]) =>
    field === wanted && typeof content !== 'bigint' ? [content] : [],
  );
}

/** The last value wins, absent = 0. */
export function numberOf(bytes: Buffer, wanted: number): bigint {
  const found = fieldsOf(bytes).findLast(([field]) => field === wanted)?.[1];
  return typeof found === 'bigint' ? found : 0n;
}

export function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const takeVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error(`cannot read ${length} bytes at ${at}`);
    return bytes.subarray(at, (at += length));
  };
  while (at < bytes.length) {
    const tag = Number(takeVarint());
    const field = tag >>> 3;
    if ((tag & 7) === 0) fields.push([field, takeVarint()]);
    else if ((tag & 7) === 1) fields.push([field, take(8).readBigUInt64LE()]);
    else if ((tag & 7) === 2) fields.push([field, take(Number(takeVarint()))]);
    else throw new Error(`cannot read wire type ${tag & 7} of field ${field}`);
  }
  return fields;
}

/** Omitted when zero. */
export function varintField(field: number, value: bigint): Buffer {
  return value === 0n
    ? Buffer.alloc(0)
    : Buffer.concat([varint(BigInt(field << 3)), varint(value)]);
}

export function doubleField(field: number, bits: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bits === 0n ? Buffer.alloc(0) : Buffer.concat([varint(BigInt((field << 3) | 1)), bytes]);
}

export function bytesField(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint(BigInt((field << 3) | 2)), varint(BigInt(content.length)), content]);
}

export function text(field: number, content: string): Buffer {
  return content === '' ? Buffer.alloc(0) : bytesField(field, Buffer.from(content));
}

/** ZigZag: `sint32`, `sint64`. */
export function zigzag(value: bigint): bigint {
  return (value << 1n) ^ (value >> 63n);
}

/** Negative numbers take ten bytes, as two's complement. */
export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
