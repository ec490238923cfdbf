/**
 * The fields of a protobuf message as they stand, whatever they mean. For small messages: it makes
 * an object of each. https://protobuf.dev/programming-guides/encoding Pure.
 */
import { AppError } from '../model/errors.ts';

export interface ProtobufField {
  readonly number: number;
  /** A varint as 64 unsigned bits, the bytes of a length-delimited field, or one of fixed width. */
  readonly value: bigint | Uint8Array | undefined;
}

const maxVarintBytes = 10;
const maxFieldNumber = 2 ** 29 - 1;

/** @throws AppError `malformed` */
export function* protobufFields(message: Uint8Array): Generator<ProtobufField, void, undefined> {
  const cursor = new Cursor(message);
  while (!cursor.atEnd()) {
    const tag = cursor.varint();
    const number = Number(tag >> 3n);
    if (number < 1 || number > maxFieldNumber) throw malformed('a field has no valid number');
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: cursor.varint() };
        break;
      case 1:
        cursor.take(8n);
        yield { number, value: undefined };
        break;
      case 2:
        yield { number, value: cursor.take(cursor.varint()) };
        break;
      case 5:
        cursor.take(4n);
        yield { number, value: undefined };
        break;
      default:
        throw malformed('a field is of no known kind');
    }
  }
}

/** The numbers of a packed field. @throws AppError `malformed` */
export function packedVarints(bytes: Uint8Array): bigint[] {
  const cursor = new Cursor(bytes);
  const numbers: bigint[] = [];
  while (!cursor.atEnd()) numbers.push(cursor.varint());
  return numbers;
}

class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** 64 bits; what is written beyond them is dropped. */
  varint(): bigint {
    let value = 0n;
    for (let i = 0; i < maxVarintBytes; i += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value |= BigInt(byte & 127) << BigInt(7 * i);
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw malformed('a number has no end');
  }

  take(length: bigint): Uint8Array {
    const start = this.#at;
    if (length > BigInt(this.#bytes.length - start)) throw malformed('a field has no end');
    this.#at += Number(length);
    return this.#bytes.subarray(start, this.#at);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws AppError `malformed` */
export function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('a text is no UTF-8');
  }
}

export function malformed(reason: string): AppError {
  return new AppError('malformed', `cannot decode the read request: ${reason}`);
}
