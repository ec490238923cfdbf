/** The shared key of the Forward protocol, version 1: HELO, PING and PONG. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../../model/errors.ts';
import { bytesAt, elementsOf, encode } from './msgpack.ts';

const serverName = 'weir';

export function encodeHelo(nonce: Buffer): Buffer {
  return encode(['HELO', { nonce, auth: Buffer.alloc(0), keepalive: true }]);
}

export interface PingAnswer {
  readonly pong: Buffer;
  readonly isAccepted: boolean;
}

/** @param message of the sender, which must be a PING. @throws AppError `unauthenticated` */
export function answerPing(message: Buffer, nonce: Buffer, sharedKey: string): PingAnswer {
  const parts = (elementsOf(message, 0, 6) ?? []).map((at) => bytesAt(message, at));
  const [name, host, salt, digest] = parts;
  if (name?.toString() !== 'PING' || !host || !salt || !digest) {
    throw new AppError(
      'unauthenticated',
      'cannot accept a message before PING: set the shared key',
    );
  }
  const sum = (hostName: Buffer | string) =>
    createHash('sha512')
      .update(salt)
      .update(hostName)
      .update(nonce)
      .update(sharedKey)
      .digest('hex');
  const expected = Buffer.from(sum(host));
  const isAccepted = digest.length === expected.length && timingSafeEqual(digest, expected);
  const reason = isAccepted ? '' : 'shared_key mismatch';
  const pong = encode(['PONG', isAccepted, reason, serverName, isAccepted ? sum(serverName) : '']);
  return { pong, isAccepted };
}
