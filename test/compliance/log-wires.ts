/** Plain JSON logs, lines, Loki and Datadog for the compliance test. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { lokiJson, lokiProtobuf, type LokiStream } from '../protocols/loki-push.ts';
import { countLogs, overHttp, overPath, range, type Wire } from './wire.ts';

const jsonLogs: Wire = {
  name: 'JSON logs',
  protocol: 'json_logs',
  kind: 'http_json',
  headers: { 'Content-Type': 'application/json' },
  successStatus: 202,
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    {},
  ],
  malformed: Buffer.from('{"message":'),
  encode: (mark, records) =>
    Buffer.from(JSON.stringify(range(records).map(() => ({ message: mark })))),
  encodePartlyBad: (mark) => Buffer.from(JSON.stringify([{ message: mark }, { message: 1 }])),
  partlyBadStatus: 202,
  ...overHttp('logs'),
  count: countLogs,
};

const ndjson: Wire = {
  ...jsonLogs,
  name: 'lines of JSON',
  protocol: 'lines',
  headers: { 'Content-Type': 'application/x-ndjson' },
  successStatus: 200,
  strangeHeaders: [
    { 'Content-Type': 'application/xml' },
    { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'br' },
    {},
  ],
  encode: (mark, records) =>
    Buffer.from(
      range(records)
        .map(() => `${JSON.stringify({ message: mark })}\n`)
        .join(''),
    ),
  encodePartlyBad: (mark) => Buffer.from(`${JSON.stringify({ message: mark })}\n{"message":`),
  partlyBadStatus: 200,
  ...overHttp('lines'),
};

const { encodePartlyBad: _, partlyBadStatus: __, ...plainLines } = ndjson;
const zstdText: Wire = {
  ...plainLines,
  name: 'lines of text, zstd',
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Encoding': 'zstd' },
  malformed: Buffer.from('not zstd'),
  encode: (mark, records) => zstdCompressSync(`${mark}\n`.repeat(records)),
};

const lokiBody = (mark: string, records: number): readonly LokiStream[] => {
  const time = BigInt(Date.now()) * 1_000_000n;
  return [{ labels: { app: 'a' }, entries: range(records).map(() => ({ time, line: mark })) }];
};

const lokiInJson: Wire = {
  ...jsonLogs,
  name: 'Loki, JSON',
  protocol: 'loki',
  successStatus: 204,
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'br' },
    {},
  ],
  malformed: Buffer.from('{"streams":['),
  encode: (mark, records) => lokiJson(lokiBody(mark, records)),
  encodePartlyBad: (mark) =>
    Buffer.from(`{"streams":[{"values":[["1","${mark}"],["1","",{"host":1}]]}]}`),
  partlyBadStatus: 400,
  ...overHttp('loki/api/v1/push'),
};

const { encodePartlyBad: _bad, partlyBadStatus: _badStatus, ...wholeLoki } = lokiInJson;
const lokiInProtobuf: Wire = {
  ...wholeLoki,
  name: 'Loki, protobuf',
  headers: { 'Content-Type': 'application/x-protobuf' },
  malformed: compressSync(Buffer.from([0x0a, 0x7f, 0x01])),
  encode: (mark, records) => compressSync(lokiProtobuf(lokiBody(mark, records))),
};

const lokiByToken: Wire = {
  ...lokiInJson,
  name: 'Loki, JSON by token in Authorization: Basic',
  hasReceiverInPath: false,
  send: (service, outgoing) =>
    overPath('/loki/api/v1/push').send(service, {
      ...outgoing,
      authorization: outgoing.authorization.map((value) => {
        const credentials = value.replace('Bearer ', 'any:');
        return `Basic ${Buffer.from(credentials).toString('base64')}`;
      }),
    }),
};

const datadog: Wire = {
  ...jsonLogs,
  name: 'Datadog logs',
  protocol: 'datadog',
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'br' },
    {},
  ],
  encodePartlyBad: (mark) => Buffer.from(JSON.stringify([{ message: mark }, 7])),
  ...overHttp('datadog/api/v2/logs'),
};

const datadogByKey: Wire = {
  ...datadog,
  name: 'Datadog logs by DD-API-KEY, gzip',
  headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  malformed: Buffer.from('not gzip'),
  encode: (mark, records) => gzipSync(datadog.encode(mark, records)),
  encodePartlyBad: (mark) => gzipSync(datadog.encodePartlyBad!(mark)),
  hasReceiverInPath: false,
  send: (service, { authorization, headers, ...rest }) =>
    overPath('/api/v2/logs').send(service, {
      ...rest,
      headers: { ...headers, ...keyHeaders(authorization) },
      authorization: [],
    }),
};

const gelf: Wire = {
  ...jsonLogs,
  name: 'GELF',
  protocol: 'gelf',
  headers: {},
  strangeHeaders: [{ 'Content-Encoding': 'br' }],
  encode: (mark, records) =>
    Buffer.from(
      range(records)
        .map((n) => JSON.stringify({ version: '1.1', host: 'a', short_message: mark, _n: n }))
        .join('\n'),
    ),
  encodePartlyBad: (mark) => Buffer.from(`{"short_message":"${mark}"}{"short_message":1}`),
  ...overHttp('gelf'),
};

const bulk: Wire = {
  ...jsonLogs,
  name: 'Elasticsearch bulk',
  protocol: 'elasticsearch',
  headers: { 'Content-Type': 'application/x-ndjson' },
  successStatus: 200,
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'br' },
    { 'Content-Type': 'application/vnd.elasticsearch+x-ndjson; compatible-with=6' },
    {},
  ],
  malformed: Buffer.from('{"message":"x"}\n'),
  encode: (mark, records) =>
    Buffer.from(`{"create":{"_index":"a"}}\n{"message":"${mark}"}\n`.repeat(records)),
  encodePartlyBad: (mark) =>
    Buffer.from(`{"index":{}}\n{"message":"${mark}"}\n{"index":{}}\n{"message":\n`),
  partlyBadStatus: 200,
  ...overHttp('elasticsearch/_bulk'),
};

const bulkByKey: Wire = {
  ...bulk,
  name: 'Elasticsearch bulk by ApiKey, gzip, index in the path',
  headers: {
    'Content-Type': 'application/vnd.elasticsearch+x-ndjson; compatible-with=9',
    'Content-Encoding': 'gzip',
  },
  malformed: Buffer.from('not gzip'),
  encode: (mark, records) => gzipSync(bulk.encode(mark, records)),
  encodePartlyBad: (mark) => gzipSync(bulk.encodePartlyBad!(mark)),
  hasReceiverInPath: false,
  send: (service, outgoing) =>
    overPath('/logs-a-default/_bulk').send(service, {
      ...outgoing,
      authorization: outgoing.authorization.map((value) => {
        const key = Buffer.from(value.replace('Bearer ', 'id:')).toString('base64');
        return `ApiKey ${key}`;
      }),
    }),
};

const { encodePartlyBad: _bulkPartlyBad, partlyBadStatus: _bulkPartlyStatus, ...wholeBulk } = bulk;
const document: Wire = {
  ...wholeBulk,
  name: 'Elasticsearch, one document',
  protocol: 'elasticsearch_document',
  headers: { 'Content-Type': 'application/json' },
  successStatus: 201,
  strangeHeaders: [
    { 'Content-Type': 'application/x-ndjson' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'br' },
    {},
  ],
  malformed: Buffer.from('{"message":'),
  encode: (mark) => Buffer.from(JSON.stringify({ message: mark }, null, 2)),
  hasOneRecord: true,
  ...overHttp('elasticsearch/logs-a-default/_doc'),
};

const hec: Wire = {
  ...jsonLogs,
  name: 'Splunk HEC, events',
  protocol: 'splunk_hec',
  headers: {},
  successStatus: 200,
  strangeHeaders: [{ 'Content-Encoding': 'br' }],
  malformed: Buffer.from('{"event":'),
  encode: (mark, records) => Buffer.from(`{"event":"${mark}","time":"1.5"}`.repeat(records)),
  encodePartlyBad: (mark) => Buffer.from(`{"event":"${mark}"}{"event":null}`),
  partlyBadStatus: 400,
  ...overHttp('services/collector/event'),
};

const { encodePartlyBad: _partlyBad, partlyBadStatus: _partlyBadStatus, ...wholeHec } = hec;
const hecRaw: Wire = {
  ...wholeHec,
  name: 'Splunk HEC, lines by token, gzip',
  protocol: 'splunk_raw',
  headers: { 'Content-Encoding': 'gzip' },
  malformed: Buffer.from('not gzip'),
  encode: (mark, records) => gzipSync(`${mark}\n`.repeat(records)),
  hasReceiverInPath: false,
  send: (service, outgoing) =>
    overPath('/services/collector/raw?source=a').send(service, {
      ...outgoing,
      authorization: outgoing.authorization.map((value) => value.replace('Bearer', 'Splunk')),
    }),
};

const journal: Wire = {
  ...plainLines,
  name: 'journald',
  protocol: 'journal',
  headers: { 'Content-Type': 'application/vnd.fdo.journal' },
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/vnd.fdo.journal', 'Content-Encoding': 'gzip' },
    {},
  ],
  malformed: Buffer.from('MESSAGE\n\xff'),
  encode: (mark, records) => Buffer.from(`MESSAGE=${mark}\n_PID=1\n\n`.repeat(records)),
  isStoredInSteps: true,
  ...overHttp('journal/upload'),
};

function keyHeaders(authorization: readonly string[]): Record<string, string> {
  // Names in different case are different members and one header.
  const [first, second] = authorization.map((value) => value.replace('Bearer ', ''));
  return {
    ...(first !== undefined && { 'DD-API-KEY': first }),
    ...(second !== undefined && { 'dd-api-key': second }),
  };
}

export const logWires: readonly Wire[] = [
  jsonLogs,
  ndjson,
  zstdText,
  lokiInJson,
  lokiInProtobuf,
  lokiByToken,
  datadog,
  datadogByKey,
  gelf,
  bulk,
  bulkByKey,
  document,
  hec,
  hecRaw,
  journal,
];
