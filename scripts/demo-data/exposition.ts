/** The metrics of a demo day in the Prometheus text format, one sample a minute. */
import type { DemoCall } from './day.ts';

const stepMs = 60_000;
/** Seconds. */
const edges = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Totals {
  ok: number;
  failed: number;
  seconds: number;
  /** Per edge, cumulative. */
  readonly below: number[];
}

/** @param calls of the whole day @returns expositions of a few hours each, in order */
export function* expositionsOf(
  calls: readonly DemoCall[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Generator<string> {
  const sorted = calls.toSorted((a, b) => a.atMs - b.atMs);
  const names = [...new Set(sorted.map(({ service }) => service))].sort();
  const totals = new Map(
    names.map((name) => [name, { ok: 0, failed: 0, seconds: 0, below: edges.map(() => 0) }]),
  );
  let next = 0;
  for (let startMs = fromMs; startMs < untilMs; startMs += stepsPerText * stepMs) {
    const text = createText();
    const endMs = Math.min(untilMs, startMs + stepsPerText * stepMs);
    for (let atMs = startMs; atMs < endMs; atMs += stepMs) {
      for (; next < sorted.length && sorted[next]!.atMs <= atMs; next += 1) {
        count(totals.get(sorted[next]!.service)!, sorted[next]!);
      }
      for (const [name, total] of totals) text.add(name, total, atMs);
    }
    yield text.toString();
  }
}

const stepsPerText = 240;

function count(totals: Totals, { durationMs, isFailed }: DemoCall): void {
  if (isFailed) totals.failed += 1;
  else totals.ok += 1;
  totals.seconds += durationMs / 1000;
  edges.forEach((edge, at) => {
    if (durationMs <= edge * 1000) totals.below[at]! += 1;
  });
}

function createText() {
  const requests: string[] = [];
  const durations: string[] = [];
  const memory: string[] = [];
  return {
    add(service: string, { ok, failed, seconds, below }: Totals, atMs: number): void {
      const own = `service="${service}"`;
      const all = ok + failed;
      requests.push(`http_requests_total{${own},code="200"} ${ok} ${atMs}`);
      requests.push(`http_requests_total{${own},code="502"} ${failed} ${atMs}`);
      const name = 'http_request_duration_seconds';
      edges.forEach((edge, at) =>
        durations.push(`${name}_bucket{${own},le="${edge}"} ${below[at] ?? 0} ${atMs}`),
      );
      durations.push(
        `${name}_bucket{${own},le="+Inf"} ${all} ${atMs}`,
        `${name}_sum{${own}} ${seconds.toFixed(3)} ${atMs}`,
        `${name}_count{${own}} ${all} ${atMs}`,
      );
      // Grows with the requests until the garbage collection.
      memory.push(
        `process_resident_memory_bytes{${own}} ${180_000_000 + (all % 500) * 150_000} ${atMs}`,
      );
    },
    toString: () =>
      [
        '# HELP http_requests_total Requests answered',
        '# TYPE http_requests_total counter',
        ...requests,
        '# HELP http_request_duration_seconds Time to answer a request',
        '# TYPE http_request_duration_seconds histogram',
        ...durations,
        '# HELP process_resident_memory_bytes Memory in use',
        '# TYPE process_resident_memory_bytes gauge',
        ...memory,
        '',
      ].join('\n'),
  };
}
