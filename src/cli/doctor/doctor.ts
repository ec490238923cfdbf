/** `weir doctor`: checks the path from sender to reader and prints a fix for each problem. */
import type { Command } from 'commander';
import { CommandError, type Terminal, toSafeJson } from '../terminal.ts';
import { checkReader, checkReceiver } from './check-access.ts';
import { type Address, checkAddress } from './check-address.ts';
import { checkLocal } from './check-local.ts';
import { checkQueue } from './check-queue.ts';
import { checkClock, checkService, checkVersion } from './check-service.ts';
import { failure, type Finding, skipped, type Status, toFindingText } from './finding.ts';
import { type DoctorFlags, findTargets, type Targets } from './targets.ts';

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
      const targets = findTargets(flags, terminal.environment);
      const findings: Finding[] = [];
      for await (const finding of examine(targets, command.parent?.version() ?? '')) {
        terminal.signal.throwIfAborted();
        findings.push(finding);
        if (!flags.json) terminal.writeOut(toFindingText(finding, terminal.styleOut));
      }
      conclude(findings, flags, terminal);
    });
}

async function* examine(targets: Targets, version: string): AsyncGenerator<Finding> {
  yield* await checkLocal(targets);
  if (targets.caFault !== undefined) {
    yield failure('authority', targets.caFault, 'name a readable file: --ca-file, WEIR_CA_FILE');
  }
  yield* examineIngest(targets);
  yield* examineStream(targets, version);
  yield* await checkQueue(targets);
}

async function* examineIngest(targets: Targets): AsyncGenerator<Finding> {
  const { ingestUrl: url, ca } = targets;
  const address = { name: 'ingest', url, ca, flag: '--receiver-url' };
  const missing = 'no receiver given (--receiver-url, WEIR_RECEIVER_URL)';
  const service = yield* examinePort(targets, address, { missing, use: 'sending' });
  if (service === undefined) return;
  yield (await checkService(service)).finding;
  yield await checkReceiver(targets);
}

async function* examineStream(targets: Targets, version: string): AsyncGenerator<Finding> {
  const { streamUrl: url, ca } = targets;
  const address = { name: 'stream', url, ca, flag: '--url' };
  const missing = 'none given (--url, WEIR_URL)';
  const service = yield* examinePort(targets, address, { missing, use: 'reading' });
  if (service === undefined) return;
  const { finding, isWeir } = await checkService(service);
  yield finding;
  // No token is sent to another service.
  if (!isWeir) return;
  yield await checkClock(service);
  yield await checkVersion(service, version);
  yield* await checkReader(targets, service.url);
}

/** @returns the address where it can be used. */
async function* examinePort(
  { elsewhere }: Targets,
  { url, ...address }: Omit<Address, 'url'> & { readonly url: URL | undefined },
  { missing, use }: { readonly missing: string; readonly use: string },
): AsyncGenerator<Finding, Address | undefined> {
  const { name, flag } = address;
  if (elsewhere.has(name)) {
    const says = 'this node does not serve it and does not know its address';
    yield skipped(`${name} address`, `${says} (${flag}, ${name}.publicUrl)`);
    return undefined;
  }
  if (url === undefined) {
    yield skipped(`${name} address`, missing);
    return undefined;
  }
  const findings = await checkAddress({ ...address, url });
  yield* findings;
  if (findings.every(({ status }) => status !== 'fail')) return { ...address, url };
  yield skipped(use, 'not checked: the address cannot be used');
  return undefined;
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
