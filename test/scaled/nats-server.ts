/**
 * A NATS server or cluster of three with JetStream in a temporary folder and on free ports, which
 * tests kill, pause and restart.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { until } from '../harness/until.ts';
import { freePort, missing, startProgram, type Program } from '../senders/program.ts';

/** For the `skip` option of a test. */
export function missingNats(): string | false {
  return missing('nats-server', 'nats-server');
}

interface Place {
  readonly name: string;
  readonly port: number;
  /** Between the servers of a cluster. */
  readonly routePort: number;
}

export class NatsServer {
  readonly place: Place;
  readonly #folder: string;
  readonly #configuration: string;
  readonly #all: readonly Place[];
  #program: Program;

  /** @param lines appended to the configuration */
  static async start(lines = ''): Promise<NatsServer> {
    const [place] = await choosePlaces(1);
    const server = new NatsServer(place!, [], lines);
    await server.answers();
    return server;
  }

  constructor(place: Place, all: readonly Place[], lines: string) {
    this.place = place;
    this.#folder = mkdtempSync(join(tmpdir(), 'weir-nats-'));
    this.#configuration = join(this.#folder, 'nats.conf');
    this.#all = all;
    this.#configure(lines);
    this.#program = this.#launch();
  }

  get url(): string {
    return `nats://127.0.0.1:${this.place.port}`;
  }

  get pid(): number {
    return this.#program.pid;
  }

  /** Accepts connections and answers nothing. */
  pause(): void {
    this.#program.signal('SIGSTOP');
  }

  resume(): void {
    this.#program.signal('SIGCONT');
  }

  /** `kill -9`; its folder stays. */
  async kill(): Promise<void> {
    this.#program.signal('SIGKILL');
    await this.#program.exited;
  }

  /** Where JetStream keeps its streams, each with its messages and consumers. */
  get streamsFolder(): string {
    return join(this.#folder, 'jetstream', '$G', 'streams');
  }

  /** On the same ports and folder. @param lines replace those of the configuration */
  async restart(lines?: string): Promise<void> {
    assert.notEqual(this.#program.exit(), undefined, 'it is already running');
    if (lines !== undefined) this.#configure(lines);
    this.#program = this.#launch();
    await this.answers();
  }

  /** Ends it and deletes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  output(): string {
    return this.#program.output();
  }

  async answers(): Promise<void> {
    await until(() => this.#isUp(), { what: 'NATS to accept connections' });
  }

  #configure(lines: string): void {
    const text = configure(this.place, this.#all, this.#folder, lines);
    writeFileSync(this.#configuration, text);
  }

  #launch(): Program {
    return startProgram('nats-server', ['-c', this.#configuration]);
  }

  #isUp(): boolean {
    const exit = this.#program.exit();
    assert.equal(exit, undefined, `NATS ended:\n${this.#program.output()}`);
    return this.#program.output().includes('Server is ready');
  }
}

export class NatsCluster {
  readonly servers: readonly NatsServer[];

  static async start(lines = ''): Promise<NatsCluster> {
    const places = await choosePlaces(3);
    const cluster = new NatsCluster(places.map((place) => new NatsServer(place, places, lines)));
    for (const server of cluster.servers) await server.answers();
    await until(() => cluster.#hasLeader(), { what: 'a leader of JetStream' });
    return cluster;
  }

  constructor(servers: readonly NatsServer[]) {
    this.servers = servers;
  }

  get urls(): string[] {
    return this.servers.map((server) => server.url);
  }

  /** The server that leads a stream at the moment. */
  async leaderOf(stream: string): Promise<NatsServer> {
    return withManager(this.urls, async (manager) => {
      const leader = (await manager.streams.info(stream)).cluster?.leader;
      const server = this.servers.find(({ place }) => place.name === leader);
      assert.ok(server, `no leader of ${stream}`);
      return server;
    });
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop();
  }

  async #hasLeader(): Promise<boolean> {
    try {
      await withManager(this.urls, (manager) => manager.getAccountInfo());
      return true;
    } catch {
      return false;
    }
  }
}

/** Uses JetStream over a separate connection. @param timeout of each answer, ms */
export async function withManager<T>(
  servers: string[],
  work: (manager: JetStreamManager) => Promise<T>,
  timeout = 2000,
): Promise<T> {
  const connection = await connect({ servers, timeout });
  try {
    return await work(await jetstreamManager(connection, { checkAPI: false, timeout }));
  } finally {
    await connection.close();
  }
}

async function choosePlaces(count: number): Promise<Place[]> {
  const places: Place[] = [];
  for (let index = 0; index < count; index++) {
    places.push({ name: `n${index}`, port: await freePort(), routePort: await freePort() });
  }
  return places;
}

function configure(place: Place, all: readonly Place[], folder: string, lines: string): string {
  // The setting that docs/scaled-out/nats.md requires; NATS 2.9 does not know it.
  const [, minor] = /v2\.(\d+)/.exec(execFileSync('nats-server', ['--version']).toString()) ?? [];
  const sync = Number(minor) >= 10 ? ', sync_interval: always' : '';
  const routes = all.map(({ routePort }) => `nats://127.0.0.1:${routePort}`).join(', ');
  return [
    `server_name: ${place.name}`,
    `listen: 127.0.0.1:${place.port}`,
    `jetstream { store_dir: ${JSON.stringify(folder)}, max_file: 4GB, max_mem: 256MB${sync} }`,
    all.length === 0
      ? ''
      : `cluster { name: weir, listen: 127.0.0.1:${place.routePort}, routes: [${routes}] }`,
    lines,
  ].join('\n');
}
