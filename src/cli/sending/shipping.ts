/**
 * What `weir send` and `weir import` have in common: the lanes to one receiver, the progress on the
 * way, the reasons of what was rejected, and the words and the exit code at the end.
 */
import { CommandError, exitCodes, type Terminal, toSafeJson } from '../terminal.ts';
import type { Batch } from './batcher.ts';
import { deliver } from './delivery.ts';
import { createIngestClient } from './ingest-client.ts';
import { Lanes } from './lanes.ts';
import { openProgressLine } from './progress-line.ts';
import { type SendProgress, toCount, toLineCount, toRate, toRetries } from './progress-text.ts';
import { Tally } from './tally.ts';
import type { Target } from '../connection.ts';
import { toError } from '../../std/error-text.ts';

export type KeyOf = (batch: Batch, body: Buffer) => string;

export interface ShippingFlags {
  /** Seconds; 0 = never. */
  readonly giveUpAfter: number;
  readonly quiet?: true;
  readonly json?: true;
}

export interface ShippingOptions {
  readonly flags: ShippingFlags;
  /** The line on a terminal. */
  readonly toLine: (progress: SendProgress) => string;
  /** What to do about lines that were not sent. */
  readonly goOnHint: string;
}

export interface Shipping {
  readonly tally: Tally;
  /** @param keyOf gives each request its idempotency key. */
  openLanes(keyOf: KeyOf): Lanes;
  /** @param origin said before the numbers of lines from now on, such as the name of a file. */
  begin(origin: string): void;
  /**
   * Waits for the work and says how it went.
   * @throws CommandError where anything was rejected or could not be sent
   */
  conclude(work: Promise<void>): Promise<void>;
}

const laneCount = 4;

export function openShipping(
  terminal: Terminal,
  target: Target,
  { flags, toLine, goOnHint }: ShippingOptions,
): Shipping {
  const client = createIngestClient(target);
  const tally = new Tally();
  const startedAt = performance.now();
  let told: string | undefined;
  let origin = '';

  const progress = openProgressLine(terminal, {
    isShown: terminal.isErrorTty && !flags.quiet,
    text: () => toLine({ ...countsOf(tally), elapsedMs: performance.now() - startedAt }),
    tick: () => tell(),
  });

  function tell(): void {
    for (const { line, reason } of tally.takeNews()) {
      progress.note(`weir: ${origin}line ${line}: ${reason}`);
    }
    if (tally.trouble === undefined || tally.trouble === told) return;
    told = tally.trouble;
    progress.note(`weir: trying again: ${told}`);
  }

  return {
    tally,
    begin(next) {
      tell();
      origin = next;
    },
    openLanes: (keyOf) => {
      const stop = new AbortController();
      const parts = {
        client,
        tally,
        keyOf,
        stop: AbortSignal.any([terminal.signal, stop.signal]),
        giveUpAfterMs: flags.giveUpAfter * 1000,
      };
      const lanes = new Lanes({
        deliver: (batch) => deliver(batch, parts),
        lanes: laneCount,
        stop: terminal.signal,
      });
      // Where one has given up, the others have no reason to try on.
      lanes.failed.addEventListener('abort', () => stop.abort(), { once: true });
      return lanes;
    },
    async conclude(work) {
      const failure = await work.then(
        () => undefined,
        (error: unknown) => toError(error),
      );
      client.close();
      tell();
      progress.close();
      report(terminal, tally, flags, performance.now() - startedAt);
      throwIfAnyWasLost(terminal, tally, failure, goOnHint);
    },
  };
}

function countsOf({ accepted, rejected, retries, trouble }: Tally) {
  return { accepted, rejected, retries, trouble };
}

function report(terminal: Terminal, tally: Tally, flags: ShippingFlags, elapsedMs: number): void {
  const { blank, read, accepted, rejected, unsent, retries, repaired, bytes } = tally;
  const untold = tally.untold();
  for (const [reason, count] of untold) {
    terminal.writeError(`weir: ${toLineCount(count)} more: ${reason}\n`);
  }
  if (flags.json) {
    const seconds = Math.round(elapsedMs) / 1000;
    const counts = { read, accepted, rejected, unsent, blank, repaired, retries, bytes, seconds };
    terminal.writeOut(`${toSafeJson(counts)}\n`);
    return;
  }
  if (flags.quiet) return;
  const parts = [
    `${toLineCount(accepted)} sent in ${(elapsedMs / 1000).toFixed(1)} s`,
    ...(accepted > 1 ? [`${toCount(toRate(accepted, elapsedMs))}/s`] : []),
    ...toRetries(retries),
    ...(blank > 0 ? [`${toCount(blank)} blank left out`] : []),
    ...(repaired > 0 ? [`${toCount(repaired)} not in UTF-8, mended`] : []),
  ];
  terminal.writeError(`${parts.join(' · ')}\n`);
}

function throwIfAnyWasLost(
  { signal }: Terminal,
  { read, rejected, unsent }: Tally,
  failure: Error | undefined,
  goOnHint: string,
): void {
  const lost = unsent > 0 ? `${toLineCount(unsent)} read and not sent` : '';
  if (signal.aborted) {
    const rest = lost || 'every line that was read was sent';
    throw new CommandError(`interrupted; ${rest}${goOnHint}`, exitCodes.interrupted);
  }
  if (failure !== undefined) {
    throw new CommandError(`cannot go on: ${failure.message}${lost && `; ${lost}`}${goOnHint}`);
  }
  if (rejected > 0) {
    throw new CommandError(`${toLineCount(rejected)} of ${toCount(read)} rejected`);
  }
}
