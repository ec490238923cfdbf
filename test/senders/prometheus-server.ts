/** A Prometheus from the machine's packages, with its own directory and a free port. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compressSync } from 'snappy';
import { sendPlain } from '../harness/http.ts';
import { everySeries, fromReadAnswer, toReadExchange } from '../harness/metrics.ts';
import type { SeriesSamples } from '../harness/prompb.ts';
import { until } from '../harness/until.ts';
import { freePort, startProgram, type Program } from './program.ts';

/** `data` of a response of the HTTP API. */
export type PrometheusData = unknown;

type Parameters = Readonly<Record<string, string>>;

export class PrometheusServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'weir-prometheus-'));
  readonly #address: string;
  readonly #program: Program;

  /** @param toConfig given its address; YAML. */
  static async start(toConfig: (address: string) => string): Promise<PrometheusServer> {
    const address = `127.0.0.1:${await freePort()}`;
    const server = new PrometheusServer(address, toConfig(address));
    await until(() => server.#isReady(), { what: 'Prometheus to be ready' });
    return server;
  }

  constructor(address: string, config: string) {
    this.#address = address;
    const configFile = join(this.#folder, 'prometheus.yml');
    writeFileSync(configFile, config);
    this.#program = startProgram('prometheus', [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(this.#folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage,native-histograms',
      '--web.enable-remote-write-receiver',
    ]);
  }

  /** Stores the series of an encoded `WriteRequest`. @throws AssertionError unless it succeeds */
  async write(message: Buffer): Promise<void> {
    const { status, text } = await sendPlain(`http://${this.#address}/api/v1/write`, {
      method: 'POST',
      body: compressSync(message),
      headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
    });
    assert.equal(status, 204, text);
  }

  /** The answer as it is, also a failure. */
  async ask<Answer>(path: string, parameters: Parameters): Promise<Answer> {
    const query = new URLSearchParams(parameters).toString();
    return (await sendPlain(`http://${this.#address}/api/v1${path}?${query}`)).json<Answer>();
  }

  /** @param path such as `/query`. @throws AssertionError unless it succeeds */
  async get(path: string, parameters: Parameters = {}): Promise<PrometheusData> {
    const query = new URLSearchParams(parameters).toString();
    const answer = await sendPlain(`http://${this.#address}/api/v1${path}?${query}`);
    const body = answer.json<{ status: string; data: PrometheusData; warnings?: string[] }>();
    assert.equal(body.status, 'success', `${path}?${query}: ${answer.text}`);
    assert.deepEqual(body.warnings ?? [], [], `${path}?${query}`);
    return body.data;
  }

  /** Current value of an expression with one number; undefined if there is none. */
  async evaluate(expression: string): Promise<number | undefined> {
    const { result } = (await this.get('/query', { query: expression })) as {
      result: readonly { value: readonly [number, string] }[];
    };
    const text = result[0]?.value[1];
    return text === undefined ? undefined : Number(text);
  }

  /** Unix ms up to which its storage is final, since each target was scraped later. */
  async settledMs(): Promise<number> {
    const seconds = await this.evaluate('min(timestamp(up))');
    assert.ok(seconds !== undefined, 'there is no scrape yet');
    return Math.round(seconds * 1000);
  }

  /**
   * All samples up to a time (Unix ms), raw, by its remote_read, which includes its own remote
   * reads.
   */
  async everything(untilMs: number): Promise<SeriesSamples[]> {
    const exchange = toReadExchange([{ matchers: everySeries, fromMs: 0, untilMs }]);
    const answer = await sendPlain(`http://${this.#address}/api/v1/read`, exchange);
    const [series] = fromReadAnswer(answer);
    return series ?? [];
  }

  /** Number of series in its own storage. */
  async seriesCount(): Promise<number> {
    const data = await this.get('/status/tsdb');
    return (data as { headStats: { numSeries: number } }).headStats.numSeries;
  }

  output(): string {
    return this.#program.output();
  }

  async stop(): Promise<void> {
    await this.#program.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #isReady(): Promise<boolean> {
    const exit = this.#program.exit();
    assert.equal(exit, undefined, `Prometheus ended:\n${this.output()}`);
    const answer = await sendPlain(`http://${this.#address}/-/ready`).catch(() => undefined);
    return answer?.status === 200;
  }
}
