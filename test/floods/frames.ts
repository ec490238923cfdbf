/** HTTP/2 frames (RFC 9113) for clients that break the rules, which no library sends. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, ack: 1, endHeaders: 4 } as const;

export type Fields = readonly (readonly [name: string, value: string])[];

export function frame(
  type: number,
  { stream = 0, flag = 0 }: { readonly stream?: number; readonly flag?: number },
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flag;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** Client preface and SETTINGS. */
export function prefaceWith(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  }
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(frameTypes.settings, {}, payload),
  ]);
}

export const preface = prefaceWith([]);
export const settingIds = { headerTableSize: 1, initialWindowSize: 4 } as const;

/** Literals without indexing or compression (RFC 7541, section 6.2.2). */
export function headerBlock(fields: Fields): Buffer {
  const parts = fields.flatMap(([name, value]) => [
    Buffer.from([0]),
    ...literal(name),
    ...literal(value),
  ]);
  return Buffer.concat(parts);
}

function literal(text: string): Buffer[] {
  return [prefixedLength(text.length), Buffer.from(text, 'latin1')];
}

/** An integer with a prefix of seven bits (RFC 7541, section 5.1). */
function prefixedLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
