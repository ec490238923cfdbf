/** Log exporters of the OpenTelemetry SDK against the real service, over each transport. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { type Logger, ROOT_CONTEXT, SeverityNumber, trace, TraceFlags } from '@opentelemetry/api';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import {
  createConfiguredExporter,
  createExporter,
  DiagLines,
  Sender,
  setEnvironment,
  type Transport,
  transports,
} from './otel-exporters.ts';

const overHttp = ['http/json', 'http/protobuf'] as const;

let service: Service;
let diagLines: DiagLines;
before(async () => {
  service = await startService({ arePortsKept: true });
});
after(() => service.stop());
beforeEach(() => {
  diagLines = new DiagLines();
  diagLines.listen();
});
afterEach(() => diagLines.close());

const spanContext = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: TraceFlags.SAMPLED,
};

const resource = {
  'service.name': 'checkout',
  'service.namespace': 'shop',
  'service.version': '3.4.5',
  'host.name': 'node-3',
  'k8s.cluster.name': 'prod-1',
  'k8s.namespace.name': 'shop',
  'k8s.node.name': 'node-3',
  'k8s.pod.name': 'checkout-5d4',
  'k8s.container.name': 'app',
  'k8s.deployment.name': 'checkout',
};

function emitOrder(logger: Logger): void {
  logger.emit({
    timestamp: [1_790_000_000, 123_456_789],
    observedTimestamp: [1_790_000_001, 5],
    severityNumber: SeverityNumber.WARN2,
    severityText: 'Warning',
    body: 'order 17 delayed: "Zürich" 🚚',
    attributes: {
      'order.id': 17,
      'order.total': 12.5,
      'order.rush': true,
      'order.items': ['a', 'b'],
      'order.note': '',
    },
    context: trace.setSpanContext(ROOT_CONTEXT, spanContext),
  });
}

/** Logs with a test's service name, oldest first, once there are this many. */
async function logsOf(serviceName: string, count: number) {
  return until(
    async () => {
      const { logs } = await service.list({ serviceName, limit: 1000 });
      return logs.length >= count && logs.toReversed();
    },
    { what: `${count} logs of ${serviceName}` },
  );
}

/** Sends by `emit`, asserts that each export succeeds, and reads back. */
async function sendOver(transport: Transport, name: string, emit: (logger: Logger) => void) {
  const sender = new Sender(createExporter(service, transport), {
    ...resource,
    'service.name': name,
  });
  emit(sender.logger());
  const outcomes = await sender.settled();
  await sender.close();
  for (const { error } of outcomes) assert.equal(error, undefined);
  return logsOf(name, outcomes.length);
}

suite('logs read back', () => {
  for (const transport of transports) {
    test(`${transport}: resource, scope, attributes, severity and trace`, async () => {
      const name = `fields-${transport}`;
      const [log, ...others] = await sendOver(transport, name, emitOrder);
      assert.equal(others.length, 0);
      assert.ok(log);
      assert.equal(log.timestamp, '2026-09-21T14:13:20.123Z');
      assert.equal(log.timestampNanos, '1790000000123456789');
      assert.equal(log.severity, 'WARNING');
      assert.equal(log.severityNumber, SeverityNumber.WARN2);
      assert.equal(log.message, 'order 17 delayed: "Zürich" 🚚');
      assert.equal(log.serviceName, name);
      assert.equal(log.serviceNamespace, 'shop');
      assert.equal(log.host, 'node-3');
      assert.deepEqual(log.kubernetes, {
        cluster: 'prod-1',
        namespace: 'shop',
        node: 'node-3',
        pod: 'checkout-5d4',
        container: 'app',
        deployment: 'checkout',
      });
      assert.equal(log.traceId, spanContext.traceId);
      assert.equal(log.spanId, spanContext.spanId);
      assert.equal(log.receiverId, service.quickstart.receivers.otlp.receiverId);
      const { labels } = log;
      assert.equal(labels['order.id'], '17');
      assert.equal(labels['order.total'], '12.5');
      assert.equal(labels['order.rush'], 'true');
      assert.deepEqual(JSON.parse(labels['order.items'] ?? ''), ['a', 'b']);
      assert.equal(labels['service.version'], '3.4.5');
    });
  }

  test('the same log is the same record over each transport', async () => {
    const names = transports.map((transport) => `same-${transport}`);
    const records = [];
    for (const [index, transport] of transports.entries()) {
      const name = names[index] ?? '';
      const [log] = await sendOver(transport, name, emitOrder);
      assert.ok(log);
      const times = { observedTimestamp: '', receivedAt: '' };
      const text = JSON.stringify({ ...log, logId: '', ...times });
      records.push(JSON.parse(text.replaceAll(name, 'same')) as unknown);
    }
    assert.deepEqual(records[1], records[0], 'protobuf is not what JSON is');
    assert.deepEqual(records[2], records[0], 'gRPC is not what JSON is');
  });

  test('bodies of each kind read back as text, the same over each transport', async () => {
    const bodies = ['', 'text', 7, 1.5, false, ['a', 1], { a: { b: [true] } }, new Uint8Array([1])];
    const texts = [];
    for (const transport of transports) {
      const logs = await sendOver(transport, `bodies-${transport}`, (logger) => {
        for (const [index, body] of bodies.entries()) {
          logger.emit({ body, timestamp: [1_790_000_000, index + 1] });
        }
      });
      texts.push(logs.map(({ message }) => message));
    }
    assert.deepEqual(texts[1], texts[0]);
    assert.deepEqual(texts[2], texts[0]);
    assert.deepEqual(texts[0]?.slice(0, 5), ['', 'text', '7', '1.5', 'false']);
    assert.deepEqual(JSON.parse(texts[0]?.[6] ?? ''), { a: { b: [true] } });
  });

  test('facets and filters include OTLP logs', async () => {
    await sendOver('http/protobuf', 'facets', (logger) => {
      logger.emit({ body: 'one', severityNumber: SeverityNumber.ERROR });
    });
    const { values } = await service.facet('severity', { serviceName: 'facets' });
    assert.deepEqual(values, [{ value: 'ERROR', count: 1 }]);
    const { logs } = await service.list({ label: 'service.version:3.4.5', serviceName: 'facets' });
    assert.equal(logs.length, 1);
  });
});

suite('configuration by environment variables', () => {
  const settings = (transport: Transport): Record<string, string> => {
    const { caFile, receivers } = service.quickstart;
    const { url, grpc, token } = receivers.otlp;
    return {
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: transport,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: transport === 'grpc' ? `https://${grpc}` : url,
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: `authorization=Bearer%20${token}`,
      OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: caFile,
    };
  };

  async function sendWith(
    name: string,
    transport: Transport,
    environment: Readonly<Record<string, string>>,
  ) {
    const restore = setEnvironment(environment);
    const sender = new Sender(createConfiguredExporter(transport), { 'service.name': name });
    sender.logger().emit({ body: name });
    const [outcome] = await sender.settled();
    await sender.close();
    restore();
    assert.equal(outcome?.error, undefined);
    const [log] = await logsOf(name, 1);
    assert.equal(log?.message, name);
  }

  for (const transport of transports) {
    test(`${transport}: endpoint, headers, certificate`, () =>
      sendWith(`environment-${transport}`, transport, settings(transport)));

    test(`${transport}: with gzip`, () =>
      sendWith(`gzip-${transport}`, transport, {
        ...settings(transport),
        OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: 'gzip',
      }));
  }

  test('OTEL_EXPORTER_OTLP_ENDPOINT is the URL without /v1/logs', () => {
    const { caFile, receivers } = service.quickstart;
    return sendWith('base', 'http/protobuf', {
      OTEL_EXPORTER_OTLP_ENDPOINT: receivers.otlp.url.replace(/\/v1\/logs$/, ''),
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${receivers.otlp.token}`,
      OTEL_EXPORTER_OTLP_CERTIFICATE: caFile,
    });
  });
});

suite('refusals surface in the SDK', () => {
  async function refused(transport: Transport, options: { token?: string; url?: string }) {
    const sender = new Sender(createExporter(service, transport, options));
    sender.logger().emit({ body: 'refused' });
    const [outcome] = await sender.settled();
    await sender.close();
    assert.ok(outcome?.error, 'the export was not refused');
    assert.equal(diagLines.lines.filter((line) => /Scheduling export retry/.test(line)).length, 0);
    return outcome.error;
  }

  const wrong = 'wri_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  const unknownStatus = { 'http/json': 401, 'http/protobuf': 401, grpc: 16 };
  for (const transport of transports) {
    test(`${transport}: an unknown token is ${unknownStatus[transport]}, not retried`, async () => {
      const { code } = await refused(transport, { token: wrong });
      assert.equal(code, unknownStatus[transport]);
    });
  }

  const otherStatus = { 'http/json': 403, 'http/protobuf': 403, grpc: 7 };
  for (const transport of transports) {
    test(`${transport}: the token of a JSON receiver is ${otherStatus[transport]}`, async () => {
      const { token } = service.quickstart.receivers.http_json;
      const { code } = await refused(transport, { token });
      assert.equal(code, otherStatus[transport]);
    });
  }

  test('the reason is a readable google.rpc.Status', async () => {
    const { data } = await refused('http/json', { token: wrong });
    const status = JSON.parse(data ?? '') as { code: number; message: string };
    assert.equal(status.code, 16);
    assert.match(status.message, /^cannot /);
  });

  for (const transport of overHttp) {
    test(`${transport}: /v1/logs appended to a complete URL is 404`, async () => {
      const { url } = service.quickstart.receivers.otlp;
      const { code } = await refused(transport, { url: `${url}/v1/logs` });
      assert.equal(code, 404);
    });
  }

  for (const transport of transports) {
    test(`${transport}: a warning is a partial success that rejects nothing`, async () => {
      const name = `warned-${transport}`;
      const [log] = await sendOver(transport, name, (logger) => {
        logger.emit({ body: 'from afar', timestamp: new Date('2200-01-01T00:00:00Z') });
      });
      assert.equal(log?.message, 'from afar');
      const warning = diagLines.lines.find((line) => /Partial Success/.test(line));
      assert.match(warning ?? '', /time outside 1970 to 2148/, diagLines.lines.join('\n'));
      assert.doesNotMatch(warning ?? '', /rejectedLogRecords":"?[1-9]/);
    });
  }

  test('a full success is not partial', async () => {
    for (const transport of transports) await sendOver(transport, `full-${transport}`, emitOrder);
    assert.deepEqual(
      diagLines.lines.filter((line) => /Partial Success|could not deserialize/.test(line)),
      [],
    );
  });
});

suite('retries', () => {
  for (const transport of overHttp) {
    test(`${transport}: over the quota, the exporter waits and delivers`, async () => {
      const receiver = await createReceiver(service, {
        kind: 'otlp',
        limits: { eventsPerSecond: 2, burstEvents: 2, maxBodyBytes: null },
      });
      const { token } = await createIngestToken(service, receiver.receiverId);
      const url = service.quickstart.receivers.otlp.url.replace(
        service.quickstart.receivers.otlp.receiverId,
        receiver.receiverId,
      );
      const name = `quota-${transport}`;
      const exporter = createExporter(service, transport, { token, url });
      const sender = new Sender(exporter, { 'service.name': name });
      for (let i = 0; i < 6; i += 1) {
        sender.logger().emit({ body: `${i}` });
        await sender.settled();
      }
      await sender.close();
      assert.ok(sender.outcomes.every(({ error }) => error === undefined));
      assert.ok(diagLines.lines.some((line) => /Scheduling export retry/.test(line)));
      const logs = await logsOf(name, 6);
      assert.deepEqual(
        logs.map(({ message }) => message),
        ['0', '1', '2', '3', '4', '5'],
      );
    });
  }

  test('503 while the backlog is full, and the exporter delivers later', async () => {
    const full = await startService({ flags: ['--queue-max-backlog-bytes', '1'] });
    const [enginePid] = full.enginePids();
    assert.ok(enginePid);
    try {
      // A stopped store keeps the backlog constant.
      process.kill(enginePid, 'SIGSTOP');
      await full.postLogs({ message: 'the backlog' });
      const sender = new Sender(createExporter(full, 'http/protobuf'));
      sender.logger().emit({ body: 'waited' });
      const isWaiting = () => diagLines.lines.some((line) => /Scheduling export retry/.test(line));
      await until(isWaiting, { what: 'the exporter to wait' });

      const overGrpc = new Sender(createExporter(full, 'grpc'));
      overGrpc.logger().emit({ body: 'dropped' });
      assert.equal((await overGrpc.settled())[0]?.error?.code, 14);

      process.kill(enginePid, 'SIGCONT');
      assert.equal((await sender.settled())[0]?.error, undefined);
      const messages = await until(
        async () => {
          const { logs } = await full.list();
          return logs.length === 2 && logs.map(({ message }) => message).sort();
        },
        { what: 'the queued log' },
      );
      assert.deepEqual(messages, ['the backlog', 'waited']);
      await Promise.all([sender.close(), overGrpc.close()]);
    } finally {
      process.kill(enginePid, 'SIGCONT');
      await full.stop();
    }
  });

  test('a kill loses nothing, and duplicates only unanswered requests', async () => {
    const names = overHttp.map((transport) => `killed-${transport}`);
    const senders = overHttp.map(
      (transport, index) =>
        new Sender(createExporter(service, transport), { 'service.name': names[index] ?? '' }),
    );
    const each = 200;
    for (const sender of senders) {
      for (let i = 0; i < each; i += 1) sender.logger().emit({ body: `${i}` });
    }
    await until(() => senders.every(({ outcomes }) => outcomes.some((one) => one.isSettled)), {
      what: 'an answer to each exporter',
      everyMs: 1,
    });
    await service.kill('SIGKILL');
    const unanswered = senders.map(({ outcomes }) => outcomes.filter((one) => !one.isSettled));
    await service.start();
    assert.ok(unanswered.flat().length > 0, 'the kill came after the end');

    for (const [index, sender] of senders.entries()) {
      const outcomes = await sender.settled();
      assert.ok(outcomes.every(({ error }) => error === undefined));
      const counts = await until(
        async () => {
          const logs = await logsOf(names[index] ?? '', each);
          const byMessage = Map.groupBy(logs, ({ message }) => message);
          return byMessage.size === each && byMessage;
        },
        { what: `each of ${each} logs` },
      );
      const mayBeTwice = new Set(
        unanswered[index]?.flatMap(({ records }) => records.map(({ body }) => body)),
      );
      for (const [message, { length }] of counts) {
        assert.ok(length === 1 || mayBeTwice.has(message), `${message} is there ${length} times`);
      }
      await sender.close();
    }
  });

  test('grpc: the exporter does not retry, but reconnects to a restarted service', async () => {
    const name = 'back';
    const sender = new Sender(createExporter(service, 'grpc'), { 'service.name': name });
    sender.logger().emit({ body: 'before' });
    assert.equal((await sender.settled())[0]?.error, undefined);
    await service.kill('SIGTERM');
    sender.logger().emit({ body: 'while it is away' });
    const away = (await sender.settled())[1]?.error;
    assert.equal(away?.code, 14);
    await service.start();
    await until(
      async () => {
        sender.logger().emit({ body: 'after' });
        return (await sender.settled()).at(-1)?.error === undefined;
      },
      { what: 'the channel to reconnect', everyMs: 100 },
    );
    await sender.close();
    const messages = (await logsOf(name, 2)).map(({ message }) => message);
    assert.deepEqual(messages, ['before', 'after']);
  });
});
