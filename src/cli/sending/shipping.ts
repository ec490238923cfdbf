/** Common to `weir send` and `weir import`: delivery to one receiver, progress and the summary. */
import { toError } from '../../std/error-text.ts';
import type { Target } from '../connection.ts';
import { CommandError, exitCodes, type Terminal, toSafeJson } from '../terminal.ts';
import { createIngestClient, deliver, type DeliveryContext } from './delivery.ts';
import { createDispatcher } from './dispatcher.ts';
import {
  openProgressLine,
  type SendProgress,
  toCount,
  toLineCount,
  toRate,
  toRetries,
} from './progress.ts';
import { nameOf, Tally } from './tally.ts';

export interface ShippingFlags {
  /** Seconds; 0 = never. */
  readonly giveUpAfter: number;
  readonly quiet?: true;
  readonly json?: true;
}

export interface ShippingOptions {
  readonly flags: ShippingFlags;
  /** Text of the progress line. */
  readonly toLine: (progress: SendProgress) => string;
  /** How to resume, appended to errors. */
  readonly resumeHint: string;
}

const maxInFlight = 4;

export type Shipping = ReturnType<typeof openShipping>;

export function openShipping(
  terminal: Terminal,
  target: Target,
  { flags, toLine, resumeHint }: ShippingOptions,
) {
  const client = createIngestClient(target);
  const tally = new Tally();
  const startedAt = performance.now();
  let reported: string | undefined;
  let origin = '';

  const progress = openProgressLine(terminal, {
    isShown: terminal.isErrorTty && !flags.quiet,
    text: () => {
      const { accepted, rejected, retries, trouble } = tally;
      const elapsedMs = performance.now() - startedAt;
      return toLine({ accepted, rejected, retries, trouble, elapsedMs });
    },
    tick: () => reportNews(),
  });

  function reportNews(): void {
    for (const rejection of tally.takeNews()) {
      progress.note(`weir: ${origin}${nameOf(rejection)}: ${rejection.reason}`);
    }
    if (tally.trouble === undefined || tally.trouble === reported) return;
    reported = tally.trouble;
    progress.note(`weir: retrying: ${reported}`);
  }

  return {
    tally,
    /** @param origin precedes line numbers in reports from now on, such as the name of a file. */
    begin(next: string): void {
      reportNews();
      origin = next;
    },
    openDispatcher: (keyOf: DeliveryContext['keyOf']) => {
      const stop = new AbortController();
      const context: DeliveryContext = {
        client,
        tally,
        keyOf,
        stop: AbortSignal.any([terminal.signal, stop.signal]),
        giveUpAfterMs: flags.giveUpAfter * 1000,
      };
      const dispatcher = createDispatcher({
        deliver: (batch) => deliver(batch, context),
        maxInFlight,
        stop: terminal.signal,
      });
      // One failure stops the retries of the others.
      dispatcher.failed.addEventListener('abort', () => stop.abort(), { once: true });
      return dispatcher;
    },
    /** Waits for the work and prints the summary. @throws CommandError unless all was accepted */
    async conclude(work: Promise<void>): Promise<void> {
      const failure = await work.then(() => undefined, toError);
      client.close();
      reportNews();
      progress.close();
      summarize(terminal, tally, flags, performance.now() - startedAt);
      throwUnlessAllAccepted(terminal, tally, failure, resumeHint);
    },
  };
}

function summarize(
  { writeOut, writeError }: Terminal,
  tally: Tally,
  flags: ShippingFlags,
  elapsedMs: number,
): void {
  const { blank, read, accepted, rejected, unsent, retries, repaired, bytes } = tally;
  for (const [reason, count] of tally.sums()) {
    writeError(`weir: ${toLineCount(count)} more: ${reason}\n`);
  }
  if (flags.json) {
    const seconds = Math.round(elapsedMs) / 1000;
    const counts = { read, accepted, rejected, unsent, blank, repaired, retries, bytes, seconds };
    writeOut(`${toSafeJson(counts)}\n`);
    return;
  }
  if (flags.quiet) return;
  const parts = [
    `${toLineCount(accepted)} sent in ${(elapsedMs / 1000).toFixed(1)} s`,
    ...(accepted > 1 ? [`${toCount(toRate(accepted, elapsedMs))}/s`] : []),
    ...toRetries(retries),
    ...(blank > 0 ? [`${toCount(blank)} blank, skipped`] : []),
    ...(repaired > 0 ? [`${toCount(repaired)} with invalid UTF-8 replaced`] : []),
  ];
  writeError(`${parts.join(' · ')}\n`);
}

function throwUnlessAllAccepted(
  { signal }: Terminal,
  { read, rejected, unsent }: Tally,
  failure: Error | undefined,
  resumeHint: string,
): void {
  const lost = unsent > 0 ? `${toLineCount(unsent)} not sent` : '';
  if (signal.aborted) {
    const rest = lost || 'all lines read were sent';
    throw new CommandError(`interrupted; ${rest}${resumeHint}`, exitCodes.interrupted);
  }
  if (failure !== undefined) {
    throw new CommandError(
      `cannot continue: ${failure.message}${lost && `; ${lost}`}${resumeHint}`,
    );
  }
  if (rejected > 0) {
    throw new CommandError(`${toLineCount(rejected)} of ${toCount(read)} rejected`);
  }
}
