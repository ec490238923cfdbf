/** The spans of a trace, as far as its logs show them. Pure. */
import type { Log } from '../../api/models.ts';
import { severityTone } from '../log/log-fields.ts';

type TracedLog = Pick<
  Log,
  'logId' | 'serviceName' | 'spanId' | 'timestampNanos' | 'severityNumber'
>;

/** The logs of one service in one span; times are of the first and last of them. */
export interface Span {
  readonly key: string;
  readonly service: string;
  /** Milliseconds since the first log of the trace. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly logs: number;
  readonly errors: number;
}

export function spanKey({ serviceName, spanId }: Pick<Log, 'serviceName' | 'spanId'>): string {
  return `${spanId} ${serviceName}`;
}

/** By the time of their first log. @param logs of one trace, in any order */
export function toSpans(logs: readonly TracedLog[]): Span[] {
  const startMs = Math.min(...logs.map(toMs));
  const groups = Map.groupBy(logs, spanKey);
  return [...groups]
    .map(([key, own]) => {
      const times = own.map((log) => toMs(log) - startMs);
      return {
        key,
        service: own[0]!.serviceName,
        fromMs: Math.min(...times),
        untilMs: Math.max(...times),
        logs: own.length,
        errors: own.filter(isError).length,
      };
    })
    .sort((a, b) => a.fromMs - b.fromMs || b.untilMs - a.untilMs);
}

/** `340 µs`, `12.5 ms`, `5.04 s`, `3 min 20 s` */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Path of the trace's page; undefined unless it is an id of a trace. */
export function tracePath(traceId: string): string | undefined {
  return /^[\da-f]{32}$/i.test(traceId) ? `/explore/traces/${traceId.toLowerCase()}` : undefined;
}

function isError({ severityNumber }: TracedLog): boolean {
  const tone = severityTone(severityNumber);
  return tone === 'error' || tone === 'fatal';
}

/** Accurate to a microsecond. */
function toMs({ timestampNanos }: TracedLog): number {
  return Number(timestampNanos) / 1e6;
}
