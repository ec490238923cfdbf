/** What happens at the port where the engine serves other processes, as log lines and metrics. */
import { Counter } from 'prom-client';
import type { Instruments } from './instruments.ts';

/**
 * - `passed`: the engine answered, with an error or without;
 * - `denied`: wrong user or password, or a page of a browser;
 * - `away`: the engine was starting, so nothing was passed on;
 * - `left`: the client was gone before its answer;
 * - `broken`: the engine was gone before its answer.
 */
export type EngineFrontOutcome = 'passed' | 'denied' | 'away' | 'left' | 'broken';

export interface EngineFrontEvents {
  listening(host: string, port: number): void;
  served(outcome: EngineFrontOutcome): void;
}

const outcomes: readonly EngineFrontOutcome[] = ['passed', 'denied', 'away', 'left', 'broken'];

export function createEngineFrontEvents({ log, metrics }: Instruments): EngineFrontEvents {
  const requests = new Counter({
    name: 'weir_engine_requests_total',
    help: 'Requests of other processes to the engine, by how they ended',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  for (const outcome of outcomes) requests.inc({ outcome }, 0);
  return {
    listening(host, port) {
      log.info({ host, port }, 'engine serves other processes');
    },
    served(outcome) {
      requests.inc({ outcome });
      if (outcome === 'denied') log.warn('refused a request to the engine: wrong user or password');
    },
  };
}
