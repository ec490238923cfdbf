/** `weir doctor`: checks the path from sender to reader and prints a fix for each problem. */
import type { Command } from 'commander';
import { CommandError, type Terminal, toSafeJson } from '../terminal.ts';
import { checkReader, checkReceiver } from './check-access.ts';
import { checkAddress } from './check-address.ts';
import { checkLocal } from './check-local.ts';
import { checkQueue } from './check-queue.ts';
import { checkClock, checkService, checkVersion } from './check-service.ts';
import { failure, type Finding, skipped, type Status, toFindingText } from './finding.ts';
import { type DoctorFlags, findPlaces, type Places } from './places.ts';

const examples = `
Changes and stores nothing: the test request to the receiver is an empty array. Exits with 1 if a
check failed, and with 0 if there are only warnings.

Examples:
  weir doctor
  weir doctor --receiver-url https://…/v1/receivers/…/logs --ingest-token wri_… --ca-file ca.pem
  weir doctor --json | jq '.findings[] | select(.status != "ok")'
`;

export function define(command: Command, terminal: Terminal): void {
  command
    .option('--receiver-url <url>', 'receiver of kind http_json [WEIR_RECEIVER_URL]')
    .option('--ingest-token <secret>', "the receiver's token [WEIR_INGEST_TOKEN]")
    .option('--ops-url <url>', 'operations port of the service [WEIR_OPS_URL]')
    .addHelpText('after', examples)
    .action(async () => {
      const flags = command.optsWithGlobals<DoctorFlags>();
      const places = findPlaces(flags, terminal.environment);
      const findings: Finding[] = [];
      for await (const finding of examine(places, command.parent?.version() ?? '')) {
        terminal.signal.throwIfAborted();
        findings.push(finding);
        if (!flags.json) terminal.writeOut(toFindingText(finding, terminal.styleOut));
      }
      conclude(findings, flags, terminal);
    });
}

async function* examine(places: Places, version: string): AsyncGenerator<Finding> {
  yield* await checkLocal(places);
  if (places.caFault !== undefined) {
    yield failure('authority', places.caFault, 'name a readable file: --ca-file, WEIR_CA_FILE');
  }
  yield* examineIngest(places);
  yield* examineStream(places, version);
  yield* await checkQueue(places);
}

const servedElsewhere = 'this node does not serve it and does not know its address';
const notUsable = 'not checked: the address cannot be used';

async function* examineIngest(places: Places): AsyncGenerator<Finding> {
  const { ingestUrl: url, ca, elsewhere } = places;
  if (elsewhere.has('ingest')) {
    yield skipped('ingest address', `${servedElsewhere} (--receiver-url, ingest.publicUrl)`);
    return;
  }
  if (url === undefined) {
    yield skipped('ingest address', 'no receiver given (--receiver-url, WEIR_RECEIVER_URL)');
    return;
  }
  const name = 'ingest';
  const address = await checkAddress({ name, url, ca, flag: '--receiver-url' });
  yield* address;
  if (hasFailure(address)) {
    yield skipped('sending', notUsable);
    return;
  }
  yield* (await checkService({ name, url, ca })).findings;
  yield await checkReceiver(places);
}

async function* examineStream(places: Places, version: string): AsyncGenerator<Finding> {
  const { streamUrl: url, ca, elsewhere } = places;
  if (elsewhere.has('stream')) {
    yield skipped('stream address', `${servedElsewhere} (--url, stream.publicUrl)`);
    return;
  }
  if (url === undefined) {
    yield skipped('stream address', 'none given (--url, WEIR_URL)');
    return;
  }
  const name = 'stream';
  const address = await checkAddress({ name, url, ca, flag: '--url' });
  yield* address;
  if (hasFailure(address)) {
    yield skipped('reading', notUsable);
    return;
  }
  const service = { name, url, ca };
  const { findings, isWeir } = await checkService(service);
  yield* findings;
  // No token is sent to another service.
  if (!isWeir) return;
  yield await checkClock(service);
  yield await checkVersion(service, version);
  yield* await checkReader(places, url);
}

function hasFailure(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === 'fail');
}

function conclude(findings: readonly Finding[], flags: DoctorFlags, terminal: Terminal): void {
  const count = (wanted: Status) => findings.filter(({ status }) => status === wanted).length;
  const [failed, warned, fine] = [count('fail'), count('warn'), count('ok')];
  if (flags.json) terminal.writeOut(`${toSafeJson({ findings, failed, warned })}\n`);
  if (failed > 0) {
    throw new CommandError(`${failed} ${failed === 1 ? 'check' : 'checks'} failed`);
  }
  if (fine === 0) {
    throw new CommandError(
      'cannot find anything to check: give --receiver-url, --url, or the data directory (--data)',
    );
  }
  if (!flags.json && warned === 0) terminal.writeOut('no problems found\n');
}
