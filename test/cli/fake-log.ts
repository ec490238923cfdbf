/** A log as the API returns it, for fake servers. */
import { randomUUID } from 'node:crypto';
import type { LogRecord } from '../../src/model/plan.ts';

export function fakeLog(message: string, more: Partial<LogRecord> = {}): LogRecord {
  return {
    logId: randomUUID(),
    timestamp: '2026-11-21T08:30:00.123Z',
    timestampNanos: '1795249800123000000',
    observedTimestamp: '2026-11-21T08:30:00.124Z',
    receivedAt: '2026-11-21T08:30:00.125Z',
    streamId: randomUUID(),
    receiverId: 'rcv_x',
    severity: 'INFO',
    severityNumber: 9,
    message,
    serviceName: 'orders',
    serviceNamespace: '',
    host: 'node-3',
    labels: {},
    kubernetes: { cluster: '', namespace: '', node: '', pod: '', container: '', deployment: '' },
    traceId: '',
    spanId: '',
    traceFlags: 0,
    eventName: '',
    scope: { name: '', version: '' },
    ...more,
  };
}
