/**
 * Rules common to every protocol: the same refusals in the same order, nothing stored of refused
 * requests, errors that name their limit, and correct counters.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Receiver } from '../../src/model/account.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { sendPlain } from '../harness/http.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import type { Outgoing } from './grpc-call.ts';
import type { Wire } from './wire.ts';
import { wires } from './wires.ts';

const maxRecords = 5;
const maxBytes = 4096;
const records = [
  '--ingest-json-max-events',
  '--ingest-otlp-max-records',
  '--ingest-prom-text-max-samples',
  '--ingest-remote-write-max-samples',
].flatMap((flag) => [flag, String(maxRecords)]);
const bytes = [
  '--ingest-json-max-body-bytes',
  '--ingest-otlp-max-body-bytes',
  '--ingest-otlp-max-protobuf-bytes',
  '--ingest-otlp-max-json-bytes',
  '--ingest-prom-text-max-body-bytes',
  '--ingest-remote-write-max-body-bytes',
  '--ingest-remote-write-max-inflated-bytes',
].flatMap((flag) => [flag, String(maxBytes)]);

let service: Service;
before(async () => {
  service = await startService({ flags: [...records, ...bytes] });
});
after(() => service.stop());

/** A separate receiver per test, so that quotas and counters are independent. */
async function open(wire: Wire, settings: Partial<Receiver> = {}): Promise<Outgoing> {
  const { receiverId } = await createReceiver(service, { kind: wire.kind, ...settings });
  const { token } = await createIngestToken(service, receiverId);
  const authorization = [`Bearer ${token}`];
  return { receiverId, authorization, headers: wire.headers, body: wire.encode('unused', 1) };
}

async function outcomes(wire: Wire): Promise<ReadonlyMap<string, number>> {
  const { text } = await sendPlain(`${service.quickstart.opsUrl}/metrics`);
  const lines = text.split('\n').filter((line) => line.includes(`protocol="${wire.protocol}"`));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(.*) (\S+)$/.exec(line) ?? [];
      return [name ?? '', Number(value)];
    }),
  );
}

const twice = (values: readonly string[]) => [...values, ...values];
const kinds = ['http_json', 'otlp', 'prometheus'] as const;
/** Larger than any limit, and valid for no decoder. */
const huge = Buffer.alloc(3 * maxBytes, 0xfe);

for (const [number, wire] of wires.entries()) {
  /** Identifies the records of one test and protocol. */
  const mark = (word: string) => `wire${number}of ${word}`;
  const most = wire.hasOneRecord === true ? 1 : maxRecords;

  suite(wire.name, () => {
    test('counts accepted records, which can be read', async () => {
      const earlier = await outcomes(wire);
      const own = await open(wire);
      const answer = await wire.send(service, {
        ...own,
        body: wire.encode(mark('taken'), most),
      });
      assert.equal(answer.status, wire.successStatus, answer.text);
      await until(async () => (await wire.count(service, mark('taken'))) >= most, {
        what: 'the records to be readable',
      });
      const now = await outcomes(wire);
      const gained = (name: string) => (now.get(name) ?? 0) - (earlier.get(name) ?? 0);
      const labels = `{protocol="${wire.protocol}"`;
      assert.equal(gained(`weir_ingest_requests_total${labels},outcome="accepted"}`), 1);
      assert.equal(gained(`weir_ingest_events_accepted_total${labels}}`), most);
    });

    test('refuses in the specified order, counts each refusal, and stores nothing', async () => {
      const own = await open(wire);
      const other = await open(wire);
      const elsewhere = await open({ ...wire, kind: kinds.find((kind) => kind !== wire.kind)! });
      const faults: [number, string, Partial<Outgoing>][] = [
        [401, 'unauthenticated', { authorization: [] }],
        [401, 'unauthenticated', { authorization: ['Bearer wri_unknown'] }],
        [401, 'unauthenticated', { authorization: [`Bearer ${service.quickstart.accessToken}`] }],
        ...(wire.hasReceiverInPath
          ? ([
              [401, 'unauthenticated', { authorization: twice(own.authorization) }],
              [404, 'not_found', { receiverId: 'rcv_unknown' }],
              [403, 'forbidden', { authorization: other.authorization }],
            ] as [number, string, Partial<Outgoing>][])
          : []),
        [403, 'forbidden', elsewhere],
        ...wire.strangeHeaders.map((headers): [number, string, Partial<Outgoing>] => [
          415,
          'unsupported_media',
          { headers },
        ]),
        ...(wire.isStoredInSteps === true
          ? []
          : ([[413, 'too_large', { body: huge }]] as [number, string, Partial<Outgoing>][])),
        [400, 'malformed', { body: wire.malformed }],
      ];
      const earlier = await outcomes(wire);
      const refusals = new Map<string, number>();
      for (const [index, [status, code, fault]] of faults.entries()) {
        const later = faults
          .slice(index)
          .reduceRight((all, [, , one]) => ({ ...all, ...one }), own);
        for (const spoilt of [{ ...own, body: wire.encode(mark('refused'), 2), ...fault }, later]) {
          const answer = await wire.send(service, spoilt);
          assert.equal(answer.status, status, `${JSON.stringify(fault)}: ${answer.text}`);
          assert.equal(answer.retryAfter, undefined, 'the same request will never succeed');
          refusals.set(code, (refusals.get(code) ?? 0) + 1);
        }
      }
      const requests = `weir_ingest_requests_total{protocol="${wire.protocol}",outcome="`;
      const counted = [...(await outcomes(wire))]
        .filter(([name]) => name.startsWith(requests))
        .map(([name, total]): [string, number] => [
          name.slice(requests.length, -2),
          total - (earlier.get(name) ?? 0),
        ])
        .filter(([, gained]) => gained > 0);
      assert.deepEqual(new Map(counted), refusals);
      const body = wire.encode(mark('after the refusals'), 1);
      assert.equal((await wire.send(service, { ...own, body })).status, wire.successStatus);
      await until(async () => (await wire.count(service, mark('after the refusals'))) === 1, {
        what: 'the record after the refusals',
      });
      assert.equal(await wire.count(service, mark('refused')), 0);
    });

    test('answers 403 for an inactive receiver or a forbidden address', async () => {
      for (const settings of [{ active: false }, { allowedCidrs: ['203.0.113.0/24'] }]) {
        const answer = await wire.send(service, await open(wire, settings));
        assert.equal(answer.status, 403, answer.text);
      }
    });

    if (wire.isStoredInSteps === true) {
      test('stores more records than a step has', async () => {
        const own = await open(wire);
        const body = wire.encode(mark('steps'), 10 * maxRecords + 1);
        const answer = await wire.send(service, { ...own, body });
        assert.equal(answer.status, wire.successStatus, answer.text);
        await until(async () => (await wire.count(service, mark('steps'))) > 10 * maxRecords, {
          what: 'the records of each step',
        });
      });
    } else if (wire.hasOneRecord !== true) {
      test('answers 413 for one record too many, names the limit, stores nothing', async () => {
        const own = await open(wire);
        const body = wire.encode(mark('too many'), maxRecords + 1);
        const answer = await wire.send(service, { ...own, body });
        assert.equal(answer.status, 413, answer.text);
        if (answer.text !== '') assert.match(answer.text, /5[^]*ingest\./);
        assert.equal(await wire.count(service, mark('too many')), 0);
      });
    }

    test('answers 429 over the quota, with Retry-After', async () => {
      const limits = { eventsPerSecond: 1, burstEvents: 1, maxBodyBytes: null };
      const own = await open(wire, { limits });
      const body = wire.encode(mark('quota'), most);
      // What is left of the burst, however little, admits one more request.
      for (let events = 0; events <= limits.burstEvents; events += most) {
        assert.equal((await wire.send(service, { ...own, body })).status, wire.successStatus);
      }
      const answer = await wire.send(service, { ...own, body });
      assert.equal(answer.status, 429, answer.text);
      assert.ok((answer.retryAfter ?? 0) >= 1 && (answer.retryAfter ?? 9) <= 5);
    });

    test('applies the smaller limit of a receiver', async () => {
      const limits = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: 10 };
      const answer = await wire.send(service, await open(wire, { limits }));
      assert.equal(answer.status, 413, answer.text);
      assert.match(answer.text, /10 bytes/);
    });

    if (wire.encodePartlyBad !== undefined) {
      test('stores the valid part of a request and counts both parts', async () => {
        const earlier = await outcomes(wire);
        const own = await open(wire);
        const body = wire.encodePartlyBad?.(mark('partly')) ?? own.body;
        const answer = await wire.send(service, { ...own, body });
        assert.equal(answer.status, wire.partlyBadStatus, answer.text);
        await until(async () => (await wire.count(service, mark('partly'))) === 1, {
          what: 'the good record',
        });
        const rejected = async (from: ReadonlyMap<string, number>) =>
          [...from]
            .filter(([name]) => name.startsWith('weir_ingest_events_rejected_total{'))
            .reduce((sum, [, value]) => sum + value, 0);
        assert.equal((await rejected(await outcomes(wire))) - (await rejected(earlier)), 1);
      });
    }
  });
}
