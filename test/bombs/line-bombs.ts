/** Bombs in lines of logs, in streams as to Loki, and in logs as to Datadog. */
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { bytesField, text } from '../harness/proto-wire.ts';
import { type Bomb, emptyMessage, gzipBomb, jsonAround, mebibyte, repeated } from './payloads.ts';
import type { Sent } from './send.ts';

/** A little below the limit of a body. */
const largeBytes = 10 * mebibyte - 4096;

const ndjson = 'application/x-ndjson';
const toLines = (type: string, body: Buffer, coding?: string): Sent => ({
  way: 'lines',
  headers: { 'content-type': type, ...(coding !== undefined && { 'content-encoding': coding }) },
  body,
});

const toLoki = (type: string, body: Buffer): Sent => ({
  way: 'loki',
  headers: { 'content-type': type },
  body,
});
const toDatadog = (body: Buffer): Sent => ({
  way: 'datadog',
  headers: { 'content-type': 'application/json' },
  body,
});

const toBulk = (body: Buffer): Sent => ({ way: 'bulk', headers: { 'content-type': ndjson }, body });

const toLongIndex = (body: Buffer): Sent => ({ ...toBulk(body), way: 'long index' });

const toInflux = (body: Buffer): Sent => ({ way: 'influx', headers: {}, body });

const lokiProtobuf = (message: Buffer): Sent =>
  toLoki('application/x-protobuf', compressSync(message));

/** A stream with labels of this size and empty entries. */
function stream(labelBytes: number, entries: number): Buffer {
  const labels = text(1, `{a="${'x'.repeat(labelBytes)}"}`);
  return bytesField(1, Buffer.concat([labels, repeated(emptyMessage(2), 2 * entries)]));
}

export const lineBombs: readonly Bomb[] = [
  {
    name: 'gzip of 10 MiB that becomes 10 GiB, as lines',
    isHeavy: true,
    expected: [413],
    make: () => toLines(ndjson, gzipBomb(largeBytes), 'gzip'),
  },
  {
    name: 'zstd of a few KiB that becomes 1 GiB, as lines',
    expected: [413],
    make: () => {
      const frame = zstdCompressSync(Buffer.alloc(64 * mebibyte));
      return toLines('text/plain', repeated(frame, 16 * frame.length), 'zstd');
    },
  },
  {
    name: 'deflate of 64 KiB that becomes 64 MiB, as lines',
    expected: [413],
    make: () => toLines('text/plain', deflateSync(Buffer.alloc(64 * mebibyte)), 'deflate'),
  },
  {
    name: 'three million lines of {}',
    expected: [413],
    make: () => toLines(ndjson, repeated('{}\n', largeBytes)),
  },
  {
    name: 'ten million empty lines',
    expected: [200],
    make: () => toLines('text/plain', repeated('\n', largeBytes)),
  },
  {
    name: 'a line of 10 MiB of text',
    expected: [200],
    make: () => toLines('text/plain', repeated('x', largeBytes)),
  },
  {
    name: 'a line of two million JSON objects, each in the next',
    expected: [400],
    make: () => toLines(ndjson, repeated('{"a":', largeBytes)),
  },
  {
    name: 'a line of logfmt with two million labels',
    expected: [200],
    make: () => toLines('application/logfmt', repeated('a=1 ', largeBytes)),
  },
  {
    name: 'a line of logfmt with a million different labels',
    expected: [400],
    make: () => {
      const pairs = Array.from({ length: 1_000_000 }, (_, n) => `a${n}=1`);
      return toLines('application/logfmt', Buffer.from(pairs.join(' ')).subarray(0, largeBytes));
    },
  },
  {
    name: 'events of 10 MiB that become 70 MiB, as members repeat the names of their objects',
    expected: [200],
    make: () => {
      const name = 'x'.repeat(50);
      const members = Array.from({ length: 900 }, (_, n) => `"${n}":1`).join(',');
      const event = `{"message":"a","error":{"${name}":{${members}}}}\n`;
      return toLines(ndjson, repeated(event, largeBytes));
    },
  },
  {
    name: 'gzip of lines of text that become 10 MiB',
    expected: [413],
    make: () => toLines('text/plain', gzipSync(repeated('x\n', largeBytes)), 'gzip'),
  },
  {
    name: 'Loki streams without entries, five million',
    expected: [204, 400, 413],
    make: () => lokiProtobuf(repeated(emptyMessage(1), largeBytes)),
  },
  {
    name: 'Loki entries without a line, five million in a stream',
    expected: [413],
    make: () => lokiProtobuf(stream(1, 5 * mebibyte - 10_000)),
  },
  {
    name: 'Loki entries that each repeat labels of 300 KiB',
    expected: [400],
    make: () => lokiProtobuf(stream(300 * 1024, 9_000)),
  },
  {
    name: 'Loki entries in JSON that each repeat labels of 300 KiB',
    expected: [400],
    make: () => {
      const before = `{"streams":[{"stream":{"a":"${'x'.repeat(300 * 1024)}"},"values":[`;
      const entry = '["1795341600123000000","x"],';
      const last = '["1795341600123000000","x"]]}]}';
      const bytes = 9_000 * entry.length;
      return toLoki('application/json', jsonAround(before, entry, last, bytes));
    },
  },
  {
    name: 'Loki entries of 100 KiB in all that would be 45 MiB of rows',
    isHeavy: true,
    expected: [413],
    make: () => lokiProtobuf(stream(5 * 1024, 9_000)),
  },
  {
    name: 'Loki JSON nested two million deep',
    expected: [400],
    make: () => toLoki('application/json', repeated('{"streams":[', largeBytes)),
  },
  {
    name: 'three million empty logs as to Datadog',
    expected: [202],
    make: () => toDatadog(jsonAround('[', '{},', '{}]', largeBytes)),
  },
  {
    name: 'Datadog logs that each have 30,000 tags',
    expected: [400, 413],
    make: () => {
      const tags = Array.from({ length: 30_000 }, (_, n) => n.toString(36)).join(',');
      const entry = `{"message":"x","ddtags":"${tags.slice(0, 60_000)}"},`;
      return toDatadog(jsonAround('[', entry, '{}]', largeBytes));
    },
  },
  {
    name: 'three million empty messages of GELF',
    expected: [413],
    make: () => ({ way: 'gelf', headers: {}, body: repeated('{}', largeBytes) }),
  },
  {
    name: 'a message of GELF with two million fields of one name',
    expected: [202],
    make: () => ({
      way: 'gelf',
      headers: {},
      body: jsonAround('{"short_message":"a"', ',"_":1', '}', largeBytes),
    }),
  },
  {
    name: 'bulk deletes, a million',
    expected: [413],
    make: () => toBulk(repeated('{"delete":{}}\n', largeBytes)),
  },
  {
    name: 'bulk documents that each have a long index, of 10 MiB in all',
    expected: [200],
    make: () => {
      const index = 'x'.repeat(255);
      return toBulk(repeated(`{"create":{"_index":"${index}"}}\n{}\n`, largeBytes));
    },
  },
  {
    name: 'as many empty bulk documents as are taken, with a long index in the path',
    isHeavy: true,
    expected: [200],
    make: () => toLongIndex(repeated('{"create":{}}\n{}\n', 50_000 * 17)),
  },
  {
    name: 'a bulk document nested two million deep',
    expected: [200],
    make: () => {
      const action = Buffer.from('{"create":{}}\n');
      return toBulk(Buffer.concat([action, repeated('{"a":', largeBytes - action.length)]));
    },
  },
  {
    name: 'a bulk action of 10 MiB',
    expected: [400],
    make: () => toBulk(repeated('{"create":', largeBytes)),
  },
  {
    name: 'a million empty events of Splunk',
    expected: [413],
    make: () => ({ way: 'hec', headers: {}, body: repeated('{}', largeBytes) }),
  },
  {
    name: 'an event of Splunk with two million members that are events',
    expected: [200, 400],
    make: () => ({
      way: 'hec',
      headers: {},
      body: jsonAround('{"event":"a"', ',"event":{}', '}', largeBytes),
    }),
  },
  {
    name: 'five million lines of Splunk with metadata',
    expected: [413],
    make: () => ({ way: 'raw', headers: {}, body: repeated('x\n', largeBytes) }),
  },
  {
    name: 'a line of InfluxDB with three million fields',
    expected: [413],
    make: () => toInflux(jsonAround('m a=1', ',a=1', '\n', largeBytes)),
  },
  {
    name: 'a line of InfluxDB whose fields each repeat tags of 60 KiB',
    expected: [413],
    make: () => {
      const tags = Array.from({ length: 40 }, (_, n) => `,t${n}=${'x'.repeat(1500)}`).join('');
      const fields = Array.from({ length: 100_000 }, (_, n) => `f${n}=1`).join(',');
      return toInflux(Buffer.from(`m${tags} ${fields}\n`));
    },
  },
  {
    name: 'a line of InfluxDB with five million line breaks in its texts',
    expected: [204],
    make: () => toInflux(repeated('m a="\n', largeBytes)),
  },
];
