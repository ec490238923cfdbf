/** Headers of the PROXY protocol, whole, in pieces and invalid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProxyHeader } from './proxy-header.ts';

const signature = '0d0a0d0a000d0a515549540a';

const headers: readonly { name: string; bytes: Buffer; client: string | undefined }[] = [
  {
    name: 'version 1 over IPv4',
    bytes: Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 51000 443\r\n'),
    client: '192.0.2.7 51000',
  },
  {
    name: 'version 1 over IPv6',
    bytes: Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 51000 443\r\n'),
    client: '2001:db8::7 51000',
  },
  { name: 'version 1 unknown', bytes: Buffer.from('PROXY UNKNOWN\r\n'), client: undefined },
  {
    name: 'version 2 over IPv4',
    bytes: Buffer.from(`${signature}2111000cc0000207c0000201c73801bb`, 'hex'),
    client: '192.0.2.7 51000',
  },
  {
    name: 'version 2 over IPv6 with an extension',
    bytes: Buffer.from(
      `${signature}21210028${'20010db8'.padEnd(31, '0')}7${'20010db8'.padEnd(31, '0')}1c73801bb` +
        '0400010a',
      'hex',
    ),
    client: '2001:db8:0:0:0:0:0:7 51000',
  },
  {
    name: 'version 2 local',
    bytes: Buffer.from(`${signature}20000000`, 'hex'),
    client: undefined,
  },
];

for (const { name, bytes, client } of headers) {
  test(`reads ${name}, at any cut`, () => {
    for (let cut = 0; cut < bytes.length; cut++) {
      assert.equal(readProxyHeader(bytes.subarray(0, cut)), undefined, `${cut} bytes`);
    }
    const header = readProxyHeader(Buffer.concat([bytes, Buffer.from('GET / HTTP/1.1')]));
    assert.equal(header?.byteLength, bytes.length);
    assert.equal(header.client && `${header.client.address} ${header.client.port}`, client);
  });
}

const invalid: Readonly<Record<string, Buffer>> = {
  'a request': Buffer.from('GET / HTTP/1.1\r\n'),
  TLS: Buffer.from('1603010200', 'hex'),
  'a line without end': Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`),
  'an address of the other family': Buffer.from('PROXY TCP4 ::1 ::2 1 2\r\n'),
  'a port that is too high': Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 70000 443\r\n'),
  'a name': Buffer.from('PROXY TCP4 localhost 192.0.2.1 1 443\r\n'),
  'another version': Buffer.from(`${signature}3111000c`, 'hex'),
  'addresses cut short': Buffer.from(`${signature}21110004c0000207`, 'hex'),
  'a length beyond the limit': Buffer.from(`${signature}2111ffff`, 'hex'),
};

for (const [name, bytes] of Object.entries(invalid)) {
  test(`rejects ${name}`, () => {
    assert.throws(() => readProxyHeader(bytes), /cannot read the PROXY header/);
  });
}
