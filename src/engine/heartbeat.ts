/**
 * Probes an engine process at an interval and reports when it hangs: `/ping` shows that the process
 * responds, `/heartbeat` that chDB runs a trivial query. The supervisor kills it.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineEvents } from '../telemetry/store-events.ts';
import type { EngineSettings } from './options.ts';

type HeartbeatOptions = Pick<EngineSettings, 'heartbeatMillis' | 'hangMillis'> & {
  readonly socketPath: string;
};

/**
 * Resolves with the reason when the engine hangs, or with undefined when the signal fires. Only a
 * timeout counts: an error is a response, and a refused connection means that the process exits.
 */
export async function watchHeartbeat(
  { socketPath, heartbeatMillis, hangMillis }: HeartbeatOptions,
  events: EngineEvents,
  signal: AbortSignal,
): Promise<string | undefined> {
  const settled = new AbortController();
  const ends = AbortSignal.any([signal, settled.signal]);
  async function watch(path: string, millis: number): Promise<string | undefined> {
    while (!ends.aborted) {
      const text = await probe({ socketPath, path, millis }, ends);
      if (text === undefined) return `no response to ${path} for ${millis} ms`;
      if (path === '/heartbeat' && text !== '') report(text, events);
      await delay(heartbeatMillis, undefined, { signal: ends }).catch(() => undefined);
    }
    return undefined;
  }
  // A query may wait for CPU that other queries use; `/ping` does not.
  const watches = [watch('/ping', hangMillis), watch('/heartbeat', 3 * hangMillis)];
  const hang = await Promise.race(watches);
  settled.abort();
  await Promise.all(watches);
  return hang;
}

interface Probe {
  readonly socketPath: string;
  readonly path: string;
  readonly millis: number;
}

/** A response may wait while this process is busy or stopped, so that time counts as one tick. */
const ticks = 10;

/** @returns the body, empty after an error; undefined after a timeout */
function probe({ socketPath, path, millis }: Probe, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const sent = request({ socketPath, path, agent: false, signal }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      text += piece;
    });
    response.on('end', () => resolve(text));
    response.on('error', () => resolve(''));
  });
  let ticked = 0;
  const timer = setInterval(() => {
    if (++ticked < ticks) return;
    resolve(undefined);
    sent.destroy();
  }, millis / ticks);
  sent.on('error', () => resolve(''));
  sent.end();
  return promise.finally(() => clearInterval(timer));
}

function report(text: string, events: EngineEvents): void {
  const { residentBytes, fault } = JSON.parse(text) as { residentBytes: number; fault?: string };
  events.engineAnswered(residentBytes, fault);
}
