/** The three metric exporters of the OpenTelemetry SDK for JavaScript, configured as users do. */
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as JsonExporter,
} from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { Service } from '../harness/service.ts';
import {
  type ExporterOptions,
  toGrpcConfig,
  toHttpConfig,
  type Transport,
} from './otel-exporters.ts';

const classes = {
  'http/json': JsonExporter,
  'http/protobuf': ProtobufExporter,
  grpc: GrpcExporter,
};

const temporalities = {
  cumulative: AggregationTemporalityPreference.CUMULATIVE,
  delta: AggregationTemporalityPreference.DELTA,
} as const;

export function createMetricExporter(
  service: Service,
  transport: Transport,
  options: ExporterOptions & { readonly temporality: keyof typeof temporalities },
): PushMetricExporter {
  const temporalityPreference = temporalities[options.temporality];
  if (transport === 'grpc') {
    return new GrpcExporter({ ...toGrpcConfig(service, options), temporalityPreference });
  }
  const { metricsUrl } = service.quickstart.receivers.otlp;
  const config = toHttpConfig(service, metricsUrl, options);
  return new classes[transport]({ ...config, temporalityPreference });
}

/** An exporter configured by environment variables only. */
export function createConfiguredMetricExporter(transport: Transport): PushMetricExporter {
  return new classes[transport]();
}

/** Exports on request. Instruments named `….exponential` are exponential histograms. */
export class MetricSender {
  readonly #provider: MeterProvider;
  #error: Error | undefined;

  constructor(exporter: PushMetricExporter, resource: Readonly<Record<string, string>>) {
    const send = exporter.export.bind(exporter);
    exporter.export = (metrics, done) =>
      send(metrics, (result) => {
        this.#error = result.error;
        done(result);
      });
    this.#provider = new MeterProvider({
      resource: resourceFromAttributes(resource),
      readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
      views: [
        {
          instrumentName: '*.exponential',
          aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM },
        },
      ],
    });
  }

  get meter() {
    return this.#provider.getMeter('weir-test', '1.2.3');
  }

  /** @throws the error of the export */
  async flush(): Promise<void> {
    await this.#provider.forceFlush();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Exports once more. */
  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}
