/** Events of requests, as log lines and metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createHttpEvents } from './request-events.ts';

test('logs a refused address once a minute and counts each connection', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const metrics = new Registry();
  const events = createHttpEvents({ log, metrics });
  for (let time = 0; time < 5; time++) events.addressRefused('ingest', 'tls', '192.0.2.7');
  assert.equal(lines.length, 1);
  const { address, msg } = JSON.parse(lines[0] ?? '') as { address: string; msg: string };
  assert.equal(address, '192.0.2.7');
  assert.match(msg, /ingest\.maxConnectionsPerAddress or ingest\.newConnectionsPerSecond/);
  assert.match(await metrics.metrics(), /cut_total{surface="ingest",reason="address"} 5/);
});
