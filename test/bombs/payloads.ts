/** What a bomb is, and payloads. */
import { gzipSync } from 'node:zlib';
import { bytesField, doubleField, text, varintField } from '../harness/proto-wire.ts';
import type { Sent } from './send.ts';

export interface Bomb {
  readonly name: string;
  /** HTTP or gRPC status; several if the protocol allows a choice. */
  readonly expected: readonly number[];
  /** Whether many identical ones cost more than different ones. */
  readonly isHeavy?: true;
  /** Created on demand: each may take tens of MiB. */
  make(): Sent;
}

export const mebibyte = 2 ** 20;
/** A little below the inflated limit of OTLP protobuf and remote_write. */
export const largeBytes = 64 * mebibyte - 4096;

/** A chunk repeated up to this many bytes. */
export function repeated(chunk: string | Buffer, bytes: number): Buffer {
  const one = Buffer.from(chunk as string);
  return Buffer.alloc(Math.floor(bytes / one.length) * one.length, one);
}

/** Head of a frame, and its content. */
export function framed(flag: number, length: number, ...content: Buffer[]): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, ...content]);
}

/** Each member is 64 MiB of zeros: 16 GiB from 16 MiB. */
export function gzipBomb(bytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(64 * mebibyte));
  return repeated(member, bytes);
}

/** A request with one log record. */
export const inRecord = (field: Buffer) => bytesField(1, bytesField(2, bytesField(2, field)));
export const emptyMessage = (field: number) => bytesField(field, Buffer.alloc(0));

/** `{"arrayValue":…}` in protobuf, nested: an AnyValue in an ArrayValue in an AnyValue … */
export function nestedValue(depth: number): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level += 1) value = bytesField(5, bytesField(1, value));
  return value;
}

export function label(name: string, value: string): Buffer {
  return bytesField(1, Buffer.concat([text(1, name), text(2, value)]));
}

const sample = bytesField(2, Buffer.concat([doubleField(1, 1n), varintField(2, 1n)]));

export function series(...labels: Buffer[]): Buffer {
  return bytesField(1, Buffer.concat([label('__name__', 'bomb'), ...labels, sample]));
}

/** JSON text around a repeated chunk. */
export function jsonAround(before: string, chunk: string, after: string, bytes: number): Buffer {
  return Buffer.concat([Buffer.from(before), repeated(chunk, bytes), Buffer.from(after)]);
}

export function manyEmpty(depth: number): Buffer {
  const fields = [1, 2, 2, 6, 1];
  let body = repeated(emptyMessage(fields[depth]!), largeBytes);
  if (depth === 4) body = bytesField(5, bytesField(5, body));
  for (const field of fields.slice(0, Math.min(depth, 3)).toReversed()) {
    body = bytesField(field, body);
  }
  return body;
}

export function largeResource(attributeBytes: number, count: number): Buffer {
  const value = bytesField(2, text(1, 'x'.repeat(attributeBytes)));
  const attribute = bytesField(1, Buffer.concat([text(1, 'a'), value]));
  const records = bytesField(2, repeated(emptyMessage(2), 2 * count));
  return bytesField(1, Buffer.concat([bytesField(1, attribute), records]));
}

/** Up to 16 MiB. */
export function linesOf(line: (number: number) => string): Buffer {
  const lines: string[] = [];
  const maxBytes = 16 * mebibyte;
  for (let bytes = 0; ; ) {
    const next = line(lines.length);
    bytes += next.length;
    if (bytes > maxBytes) return Buffer.from(lines.join(''));
    lines.push(next);
  }
}
