/**
 * The three log exporters of the OpenTelemetry SDK for JavaScript, configured as users do, with the
 * outcome of each export.
 */
import { readFileSync } from 'node:fs';
import { credentials, Metadata } from '@grpc/grpc-js';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPLogExporter as GrpcExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  LoggerProvider,
  SimpleLogRecordProcessor,
  type LogRecordExporter,
  type ReadableLogRecord,
} from '@opentelemetry/sdk-logs';
import type { Service } from '../harness/service.ts';

/** By the values of `OTEL_EXPORTER_OTLP_LOGS_PROTOCOL`. */
export const transports = ['http/json', 'http/protobuf', 'grpc'] as const;
export type Transport = (typeof transports)[number];

export interface ExporterOptions {
  /** Instead of the token of the first run's OTLP receiver. */
  readonly token?: string;
  /** Instead of that receiver's URL. */
  readonly url?: string;
  /** Timeout of one export, including retries; default 30,000. */
  readonly timeoutMillis?: number;
}

const defaultTimeoutMs = 30_000;

const classes = {
  'http/json': JsonExporter,
  'http/protobuf': ProtobufExporter,
  grpc: GrpcExporter,
};

export function createExporter(
  service: Service,
  transport: Transport,
  options: ExporterOptions = {},
): LogRecordExporter {
  if (transport === 'grpc') return new GrpcExporter(toGrpcConfig(service, options));
  return new classes[transport](
    toHttpConfig(service, service.quickstart.receivers.otlp.url, options),
  );
}

/** @param url unless the options have another */
export function toHttpConfig({ quickstart }: Service, url: string, options: ExporterOptions) {
  const { token = quickstart.receivers.otlp.token, timeoutMillis = defaultTimeoutMs } = options;
  return {
    url: options.url ?? url,
    headers: { authorization: `Bearer ${token}` },
    httpAgentOptions: { ca: readFileSync(quickstart.caFile), keepAlive: true, maxSockets: 16 },
    timeoutMillis,
    concurrencyLimit: 1000,
  };
}

export function toGrpcConfig({ quickstart }: Service, options: ExporterOptions) {
  const { otlp } = quickstart.receivers;
  const { token = otlp.token, timeoutMillis = defaultTimeoutMs } = options;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return {
    url: options.url ?? `https://${otlp.grpc}`,
    credentials: credentials.createSsl(readFileSync(quickstart.caFile)),
    metadata,
    timeoutMillis,
  };
}

/** An exporter configured by environment variables only. */
export function createConfiguredExporter(transport: Transport): LogRecordExporter {
  return new classes[transport]();
}

/**
 * Sets variables that exporters read as late as at their first export.
 * @returns a function that resets them
 */
export function setEnvironment(environment: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  return () => {
    for (const key of Object.keys(environment)) delete process.env[key];
    Object.assign(process.env, before);
  };
}

/** Messages to `diag`, the log of the SDK, during a test. */
export class DiagLines {
  readonly lines: string[] = [];

  /** One at a time: `diag` is global. */
  listen(): void {
    const take = (...said: unknown[]) => void this.lines.push(said.map(String).join(' '));
    const logger = { error: take, warn: take, info: take, debug: () => {}, verbose: take };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ALL, suppressOverrideMessage: true });
  }

  close(): void {
    diag.disable();
  }
}

/** Outcome of one export; `error` is undefined on success. */
export interface Outcome {
  readonly records: readonly ReadableLogRecord[];
  error: (Error & { readonly code?: number; readonly data?: string }) | undefined;
  isSettled: boolean;
}

/** A logger that exports each record separately, with the outcomes in order. */
export class Sender {
  readonly outcomes: Outcome[] = [];
  readonly #provider: LoggerProvider;
  readonly #exports: Promise<void>[] = [];

  constructor(exporter: LogRecordExporter, resource: Readonly<Record<string, string>> = {}) {
    const watched: LogRecordExporter = {
      export: (records, done) => {
        const outcome: Outcome = { records, error: undefined, isSettled: false };
        this.outcomes.push(outcome);
        this.#exports.push(
          new Promise((resolve) => {
            exporter.export(records, (result) => {
              Object.assign(outcome, { error: result.error, isSettled: true });
              done(result);
              resolve();
            });
          }),
        );
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    };
    this.#provider = new LoggerProvider({
      resource: resourceFromAttributes(resource),
      processors: [new SimpleLogRecordProcessor({ exporter: watched })],
    });
  }

  logger(scope = 'weir-test', version = '1.2.3') {
    return this.#provider.getLogger(scope, version);
  }

  /** Resolves once each export so far has succeeded or failed. */
  async settled(): Promise<readonly Outcome[]> {
    await Promise.all(this.#exports);
    return this.outcomes;
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}
