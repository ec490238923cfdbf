/**
 * `npm run floods -- --seconds S --only PATTERN --workers N --max-p99-ms MS`: every flood against
 * one running service while others send and read. Prints a Markdown table, and fails if a promise
 * was broken.
 */
import assert from 'node:assert/strict';
import { parseOptions } from '../../scripts/script-options.ts';
import { configSchema } from '../../src/config/schema.ts';
import { type LogPage, type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { attacks } from './attacks.ts';
import { faultsOf, nameOf, toTable, type Verdict } from './report.ts';
import { type Flood, gatewayBytes, runFlood } from './run-flood.ts';

const values = parseOptions(import.meta.url, {
  seconds: { type: 'string', default: '8' },
  only: { type: 'string', default: '' },
  workers: { type: 'string', default: '1' },
  'max-p99-ms': { type: 'string', default: '1000' },
});

const { maxInFlightBytes } = configSchema.parse({}).ingest;
/** The bound in docs/operating.md, above the memory of an idle gateway. */
const maxGrowthBytes = 6 * maxInFlightBytes;
const maxP99Ms = Number(values['max-p99-ms']);
const storedLogs = 5000;

const floods: readonly Flood[] = [
  { attack: undefined, port: 'ingest', hasToken: false },
  ...attacks.flatMap((attack) =>
    attack.ports.flatMap((port) =>
      attack.tokens.map((hasToken): Flood => ({ attack, port, hasToken })),
    ),
  ),
];
const chosen = floods.filter((flood) => new RegExp(values.only).test(nameOf(flood)));

const service = await startService({ flags: ['--workers', values.workers] });
const verdicts: Verdict[] = [];
let faults = 0;
try {
  await fill(service);
  const idleBytes = gatewayBytes(service.process.pid);
  console.log(
    `idle: ${Math.round(idleBytes / 2 ** 20)} MiB; may grow by ${maxGrowthBytes / 2 ** 20}`,
  );
  for (const flood of chosen) {
    const outcome = await runFlood(service, flood, Number(values.seconds));
    const verdict = { ...outcome, missing: outcome.isAlive ? await missing(service, outcome) : 0 };
    verdicts.push(verdict);
    const found = faultsOf(verdict, { maxGatewayBytes: idleBytes + maxGrowthBytes, maxP99Ms });
    faults += found.length;
    console.log(`${found.length === 0 ? 'ok  ' : 'FAIL'} ${nameOf(flood)}`);
    for (const fault of found) console.log(`     ${fault}`);
    if (!outcome.isAlive) break;
  }
  console.log(`\n${toTable(verdicts, idleBytes)}`);
} finally {
  await service.stop();
}
process.exitCode = faults === 0 ? 0 : 1;

/** Gives reads something to return. */
async function fill(one: Service): Promise<void> {
  const events = Array.from({ length: 1000 }, (_, index) => ({
    message: `stored before the floods ${index} ${'x'.repeat(300)}`,
    service_name: 'floods',
  }));
  for (let sent = 0; sent < storedLogs; sent += events.length) await one.postLogs(events);
}

/** Acknowledged events of a flood that cannot be read afterwards. */
async function missing(
  one: Service,
  { elsewhere, neighbour }: Verdict | Awaited<ReturnType<typeof runFlood>>,
): Promise<number> {
  const acknowledged = [...elsewhere.acknowledged, ...neighbour.acknowledged];
  let left = acknowledged.length;
  const word = acknowledged[0]?.replace(/-(elsewhere|neighbour) .*$/, '');
  if (word === undefined) return 0;
  const found = await until(
    async () => {
      const seen = await messagesWith(one, word);
      left = acknowledged.filter((message) => !seen.has(message)).length;
      return left === 0;
    },
    { what: 'all acknowledged events', everyMs: 500 },
  ).catch(() => false);
  return found ? 0 : left;
}

/** Retries while reads of the flood still use the account's share. */
async function messagesWith(one: Service, word: string): Promise<Set<string>> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const answer = await one.read('/logs', {
      search: `"${word}"`,
      limit: 1000,
      ...(cursor && { cursor }),
    });
    if (answer.status === 503) return seen;
    assert.equal(answer.status, 200, answer.text);
    const page = answer.json<LogPage>();
    for (const { message } of page.logs) seen.add(message);
    if (page.logs.length < 1000) return seen;
    cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
  }
}
