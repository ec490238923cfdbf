/**
 * Fixed-size binary records: a magic number, a CRC32C of the bytes from 8 on, then the fields at
 * their offsets. Little endian.
 */
import { crc32c } from '@node-rs/crc32';

interface FieldTypes {
  u32: number;
  u64: bigint;
  /** A u64 that fits a number. */
  size: number;
  /** A u64 plus one; 0 = undefined, as in records of releases without the field. */
  optional: bigint | undefined;
  /** Non-zero u64s up to the end of the record. */
  list: readonly bigint[];
}

type Fields = Readonly<Record<string, readonly [offset: number, type: keyof FieldTypes]>>;
type Values<Layout extends Fields> = {
  readonly [Name in keyof Layout]: FieldTypes[Layout[Name][1]];
};

export interface RecordFormat<Record> {
  readonly bytes: number;
  encode(record: Record): Buffer;
  /** @returns undefined unless `source` begins with an intact record */
  decode(source: Buffer): Record | undefined;
}

/** @param magic four Latin-1 characters; fields start at offset 8 */
export function defineRecord<const Layout extends Fields>(
  magic: string,
  bytes: number,
  layout: Layout,
): RecordFormat<Values<Layout>> {
  const magicNumber = Buffer.from(magic, 'latin1').readUInt32LE(0);
  const fields = Object.entries(layout);
  return {
    bytes,
    encode(record) {
      const target = Buffer.alloc(bytes);
      for (const [name, [offset, type]] of fields) {
        write[type](target, offset, record[name] as never);
      }
      target.writeUInt32LE(magicNumber, 0);
      target.writeUInt32LE(crc32c(target.subarray(8)), 4);
      return target;
    },
    decode(source) {
      if (source.length < bytes || source.readUInt32LE(0) !== magicNumber) return undefined;
      const own = source.subarray(0, bytes);
      if (crc32c(own.subarray(8)) !== own.readUInt32LE(4)) return undefined;
      const values = fields.map(([name, [offset, type]]) => [name, read[type](own, offset)]);
      return Object.fromEntries(values) as Values<Layout>;
    },
  };
}

const write: {
  readonly [Type in keyof FieldTypes]: (
    target: Buffer,
    offset: number,
    value: FieldTypes[Type],
  ) => void;
} = {
  u32: (target, offset, value) => target.writeUInt32LE(value, offset),
  u64: (target, offset, value) => target.writeBigUInt64LE(value, offset),
  size: (target, offset, value) => target.writeBigUInt64LE(BigInt(value), offset),
  optional: (target, offset, value) =>
    target.writeBigUInt64LE(value === undefined ? 0n : value + 1n, offset),
  list: (target, offset, values) =>
    values.forEach((value, index) => target.writeBigUInt64LE(value, offset + 8 * index)),
};

const read: {
  readonly [Type in keyof FieldTypes]: (source: Buffer, offset: number) => FieldTypes[Type];
} = {
  u32: (source, offset) => source.readUInt32LE(offset),
  u64: (source, offset) => source.readBigUInt64LE(offset),
  size: (source, offset) => Number(source.readBigUInt64LE(offset)),
  optional(source, offset) {
    const stored = source.readBigUInt64LE(offset);
    return stored === 0n ? undefined : stored - 1n;
  },
  list(source, offset) {
    const count = (source.length - offset) / 8;
    const all = Array.from({ length: count }, (_, index) =>
      source.readBigUInt64LE(offset + 8 * index),
    );
    return all.filter((value) => value !== 0n);
  },
};
