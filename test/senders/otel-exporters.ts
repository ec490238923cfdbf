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
  const { caFile, receivers } = service.quickstart;
  const { token = receivers.otlp.token, timeoutMillis = 30_000 } = options;
  const ca = readFileSync(caFile);
  const authorization = `Bearer ${token}`;
  if (transport === 'grpc') {
    const metadata = new Metadata();
    metadata.set('authorization', authorization);
    return new GrpcExporter({
      url: options.url ?? `https://${receivers.otlp.grpc}`,
      credentials: credentials.createSsl(ca),
      metadata,
      timeoutMillis,
    });
  }
  return new classes[transport]({
    url: options.url ?? receivers.otlp.url,
    headers: { authorization },
    httpAgentOptions: { ca, keepAlive: true, maxSockets: 16 },
    timeoutMillis,
    concurrencyLimit: 1000,
  });
}

/**
 * An exporter configured by environment variables only, which it may read as late as its first
 * export: `restore` resets them.
 */
export function createConfiguredExporter(
  transport: Transport,
  environment: Readonly<Record<string, string>>,
): { readonly exporter: LogRecordExporter; restore(): void } {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  const restore = () => {
    for (const key of Object.keys(environment)) delete process.env[key];
    Object.assign(process.env, before);
  };
  return { exporter: new classes[transport](), restore };
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
