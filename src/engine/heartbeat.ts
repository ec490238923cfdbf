/**
 * Asks an engine process again and again whether it answers, and says when it has been silent for too long. It asks for
 * two things in turn: the process itself, and a trivial query. Killing is the supervisor's business.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineEvents } from '../telemetry/engine-events.ts';

export interface HeartbeatOptions {
  readonly socketPath: string;
  readonly heartbeatMillis: number;
  readonly hangMillis: number;
}

/**
 * Resolves with a sentence when the engine hangs, or with undefined when the signal fires. An error is an answer: only
 * silence counts, and a refused connection is left to whoever waits for the process's end.
 */
export async function watchHeartbeat(
  options: HeartbeatOptions,
  events: EngineEvents,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    for (const path of ['/ping', '/heartbeat'] as const) {
      const answer = await ask(options, path, signal);
      if (answer === 'silence') return `no answer to ${path} for ${options.hangMillis} ms`;
      if (path === '/heartbeat' && answer.text !== '') report(answer.text, events);
      await delay(options.heartbeatMillis, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }
  return undefined;
}

type Answer = 'silence' | { readonly text: string };

function ask(options: HeartbeatOptions, path: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const { socketPath, hangMillis } = options;
    const asked = request({ socketPath, path, agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ text }));
      response.on('error', () => resolve({ text: '' }));
    });
    asked.setTimeout(hangMillis, () => {
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
