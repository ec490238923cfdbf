/**
 * Every protocol besides plain JSON, on a separate service: the same logs in each form of OTLP as
 * fast as answers come, then samples.
 */
import { readFileSync } from 'node:fs';
import { type Service, startService } from '../test/harness/service.ts';
import { type IngestFigures, measureBurst, measureLimit } from './ingest.ts';
import { type Load, startLoad } from './load.ts';
import type { LoadForm } from './load-bodies.ts';
import { drained } from './service-gauge.ts';

export interface WayIn {
  readonly name: string;
  readonly figures: IngestFigures;
}

export interface WaysInOptions {
  readonly seed: number;
  /** Duration of each burst; samples take five times as long. */
  readonly seconds: number;
}

const logForms = [
  ['plain JSON', 'json_logs'],
  ['OTLP protobuf', 'otlp_protobuf'],
  ['OTLP JSON', 'otlp_json'],
  ['OTLP gRPC', 'otlp_grpc'],
] as const;

/** @param say called for each phase */
export async function measureWaysIn(
  { seed, seconds }: WaysInOptions,
  say: (phase: string) => void,
): Promise<WayIn[]> {
  const service = await startService();
  const found: WayIn[] = [];
  const measure = async (name: string, load: Load, run: () => Promise<IngestFigures>) => {
    await load.opened;
    say(name);
    found.push({ name, figures: await run() });
    await load.stop();
    await drained(service);
  };
  try {
    for (const [name, form] of logForms) {
      const shape = { seed, form, connections: 16, bodies: 128, eventsPerBody: 1000 };
      const load = openLoad(service, shape);
      await measure(`${name}, batches of 1,000, burst`, load, () =>
        measureBurst(service, load, seconds),
      );
    }
    const shape = { seed, connections: 5, bodies: 10_000, eventsPerBody: 2000 };
    const samples = openLoad(service, { ...shape, form: 'remote_write' });
    await measure('remote_write, 2,000 samples of 10,000 series, sustained', samples, () =>
      measureLimit(service, samples, 5 * seconds),
    );
    const pushes = openLoad(service, { ...shape, form: 'prom_text' });
    await measure('text push, 2,000 samples of 10,000 series, burst', pushes, () =>
      measureBurst(service, pushes, seconds),
    );
    const points = openLoad(service, { ...shape, form: 'otlp_metrics' });
    await measure('metrics as OTLP protobuf, 2,000 points of 10,000 series, burst', points, () =>
      measureBurst(service, points, seconds),
    );
    return found;
  } finally {
    await service.stop();
  }
}

interface LogShape {
  readonly seed: number;
  readonly form: LoadForm;
  readonly connections: number;
  readonly bodies: number;
  readonly eventsPerBody: number;
}

function openLoad(service: Service, shape: LogShape): Load {
  const { caFile, ingestUrl, receivers } = service.quickstart;
  const { http_json: json, otlp, prometheus } = receivers;
  const target = {
    json_logs: json,
    otlp_json: otlp,
    otlp_protobuf: otlp,
    otlp_grpc: { url: ingestUrl, token: otlp.token },
    otlp_metrics: { url: otlp.metricsUrl, token: otlp.token },
    remote_write: { url: prometheus.writeUrl, token: prometheus.token },
    prom_text: { url: prometheus.pushUrl, token: prometheus.token },
  }[shape.form];
  const { url, token } = target;
  return startLoad({ ca: readFileSync(caFile, 'utf8'), url, token, ...shape });
}
