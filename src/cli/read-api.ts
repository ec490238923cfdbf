/**
 * Reads in the active account, whole or as they come. What the service is too busy for is asked
 * again; it knows nothing of what the answers mean.
 */
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, ApiFailure, ConnectionFailure, toBrokenAnswer } from './api-client.ts';
import { CommandError } from './terminal.ts';

export interface ReadApi {
  /** @param path below `/api/v1`, such as `['logs']`. @throws CommandError */
  get<Answer>(path: readonly string[], query: URLSearchParams): Promise<Answer>;
  /**
   * An answer without an end in sight, chunk by chunk as it arrives.
   * @throws CommandError, from the iteration too where the connection breaks
   */
  open(
    path: readonly string[],
    query: URLSearchParams,
    options: OpenOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
}

export interface OpenOptions {
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** After so long without a byte the connection counts as broken. */
  readonly idleTimeoutMs: number;
}

export interface ReadApiOptions {
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  readonly activeAccount: () => Promise<string>;
}

const mostAttempts = 4;
const longestWaitSeconds = 10;

export function createReadApi(
  client: ApiClient,
  { signal, activeAccount }: ReadApiOptions,
): ReadApi {
  const ask = async (
    path: readonly string[],
    query: URLSearchParams,
    options: Pick<OpenOptions, 'accept' | 'headers'>,
  ): Promise<IncomingMessage> => {
    const accountId = await activeAccount();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await client.send({ method: 'GET', path, query, accountId, ...options });
      } catch (error) {
        if (attempt === mostAttempts || !isBusy(error)) throw error;
        const seconds = Math.min(error.retryAfterSeconds ?? 1, longestWaitSeconds);
        await sleep(seconds * 1_000, undefined, { signal });
      }
    }
  };
  return {
    async get<Answer>(path: readonly string[], query: URLSearchParams) {
      const response = await ask(path, query, { accept: 'application/json' });
      const text = await readText(response).catch((error: unknown) => {
        throw toBrokenAnswer(error, signal);
      });
      return parse(text) as Answer;
    },
    async open(path, query, { idleTimeoutMs, ...options }) {
      const response = await ask(path, query, options);
      return readChunks(response, idleTimeoutMs, signal);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError('cannot understand the answer: is that the address of Weir? (--url)');
  }
}

function isBusy(error: unknown): error is ApiFailure {
  return error instanceof ApiFailure && (error.status === 503 || error.status === 429);
}

/** Only waiting for the service is timed: whoever takes the chunks may take their time. */
async function* readChunks(
  response: IncomingMessage,
  idleTimeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const silence = new ConnectionFailure(
    `cannot go on reading: nothing came for ${idleTimeoutMs / 1_000} s`,
  );
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = setTimeout(() => response.destroy(silence), idleTimeoutMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw toBrokenAnswer(error, signal);
  } finally {
    response.destroy();
  }
}
