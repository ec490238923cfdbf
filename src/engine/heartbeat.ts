/**
 * Asks an engine process again and again whether it answers, and says when it has been silent for
 * too long. It asks for two things: the process itself, and a trivial query. Killing is the
 * supervisor's business.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineEvents } from '../telemetry/store-events.ts';

export interface HeartbeatOptions {
  readonly socketPath: string;
  readonly heartbeatMillis: number;
  readonly hangMillis: number;
}

/**
 * Resolves with a sentence when the engine hangs, or with undefined when the signal fires. An error
 * is an answer: only silence counts, and a refused connection is left to whoever waits for the
 * process's end.
 */
export async function watchHeartbeat(
  options: HeartbeatOptions,
  events: EngineEvents,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { socketPath, heartbeatMillis, hangMillis } = options;
  const settled = new AbortController();
  const ends = AbortSignal.any([signal, settled.signal]);
  async function watch(path: string, millis: number): Promise<string | undefined> {
    while (!ends.aborted) {
      const answer = await ask({ socketPath, path, millis }, ends);
      if (answer === 'silence') return `no answer to ${path} for ${millis} ms`;
      if (path === '/heartbeat' && answer.text !== '') report(answer.text, events);
      await delay(heartbeatMillis, undefined, { signal: ends }).catch(() => undefined);
    }
    return undefined;
  }
  // A query may wait for processors that others use; the process itself has no excuse.
  const watches = [watch('/ping', hangMillis), watch('/heartbeat', 3 * hangMillis)];
  const hang = await Promise.race(watches);
  settled.abort();
  await Promise.all(watches);
  return hang;
}

interface Question {
  readonly socketPath: string;
  readonly path: string;
  readonly millis: number;
}

type Answer = 'silence' | { readonly text: string };

function ask({ socketPath, path, millis }: Question, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path, agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ text }));
      response.on('error', () => resolve({ text: '' }));
    });
    asked.setTimeout(millis, () => {
      resolve('silence');
      asked.destroy();
    });
    asked.on('error', () => resolve({ text: '' }));
    asked.end();
  });
}

function report(text: string, events: EngineEvents): void {
  const { residentBytes, fault } = JSON.parse(text) as { residentBytes: number; fault?: string };
  events.engineAnswered(residentBytes, fault);
}
