/** What happens to the statistics of receivers while they wait to be written. */
import { Counter } from 'prom-client';
import type { Instruments } from './instruments.ts';

export interface StatisticsEvents {
  /** They stay in memory and are tried again. */
  statisticsNotWritten(error: unknown): void;
  /** They were forgotten unwritten: minutes of counts, and samples. */
  statisticsDropped(minutes: number, samples: number): void;
}

export function createStatisticsEvents({ log, metrics }: Instruments): StatisticsEvents {
  const failures = new Counter({
    name: 'weir_receiver_statistics_failures_total',
    help: 'Times that statistics of receivers could not be written; they are tried again',
    registers: [metrics],
  });
  const dropped = new Counter({
    name: 'weir_receiver_statistics_dropped_total',
    help: 'Minutes of counts, and samples, that were forgotten before they were written',
    labelNames: ['what'] as const,
    registers: [metrics],
  });
  return {
    statisticsNotWritten(error) {
      failures.inc();
      log.warn({ err: error }, 'cannot write statistics of receivers; trying again');
    },
    statisticsDropped(minutes, samples) {
      dropped.inc({ what: 'minutes' }, minutes);
      dropped.inc({ what: 'samples' }, samples);
    },
  };
}
