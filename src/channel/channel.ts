/**
 * Typed calls to another thread or process: each side serves a table of methods and calls those of
 * its peer through a proxy, many at a time in both directions.
 */
import { AppError, type AppErrorOptions, type ErrorCode } from '../model/errors.ts';
import { toError } from '../std/error-text.ts';

/** Carries messages to one peer, in order. */
export interface Transport {
  /** @param buffers memory that changes hands instead of being copied */
  send(message: Message, buffers: ArrayBuffer[]): void;
  /** Called once, before the first message is delivered. */
  listen(receive: (message: Message) => void): void;
  /** Resolves with the reason once no more messages arrive. */
  readonly closed: Promise<Error>;
  close(): void;
}

export type Message =
  /** `id` 0: no reply. */
  | { readonly id: number; readonly method: string; readonly input: readonly unknown[] }
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: EncodedError };

type InputOf<Method> = Method extends (...input: infer Input) => unknown ? Input : never;
type OutputOf<Method> = Method extends (...input: never[]) => infer Output ? Output : never;

/** The peer's methods. Each rejects with the error thrown there, or once the peer is gone. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: (
    ...input: InputOf<Methods[Name]>
  ) => Promise<Awaited<OutputOf<Methods[Name]>>>;
};

/** An implementation of the methods; an AppError it throws reaches the caller as one. */
export type Served<Methods> = {
  readonly [Name in keyof Methods]: (
    ...input: InputOf<Methods[Name]>
  ) => OutputOf<Methods[Name]> | Promise<Awaited<OutputOf<Methods[Name]>>>;
};

export interface Channel<Methods> {
  readonly remote: Remote<Methods>;
  /** Calls a method without waiting for it; errors, and a peer that is gone, are ignored. */
  notify<Name extends keyof Methods & string>(name: Name, ...input: InputOf<Methods[Name]>): void;
  /** Resolves with the reason once the peer is gone; calls it made may still run here. */
  readonly closed: Promise<Error>;
  close(): void;
}

const maxId = 2 ** 32 - 1;
const transfers = new WeakMap<object, ArrayBuffer[]>();

/**
 * Marks buffers within an argument or a result: their memory changes hands instead of being copied.
 * @returns the value
 */
export function transfer<Value extends object>(
  value: Value,
  buffers: readonly ArrayBufferLike[],
): Value {
  transfers.set(value, [...buffers] as ArrayBuffer[]);
  return value;
}

export function openChannel<Own, Peer>(transport: Transport, served: Served<Own>): Channel<Peer> {
  const pending = new Map<number, PromiseWithResolvers<never>>();
  const methods = served as Readonly<Record<string, (...input: unknown[]) => unknown>>;
  let lastId = 0;
  let failure: Error | undefined;

  function send(id: number, method: string, input: readonly unknown[]): void {
    transport.send({ id, method, input }, input.flatMap(buffersOf));
  }

  function call(method: string, input: readonly unknown[]): Promise<never> {
    if (failure !== undefined) return Promise.reject(failure);
    const reply = Promise.withResolvers<never>();
    do lastId = lastId === maxId ? 1 : lastId + 1;
    while (pending.has(lastId));
    pending.set(lastId, reply);
    try {
      send(lastId, method, input);
    } catch (error) {
      pending.delete(lastId);
      reply.reject(error);
    }
    return reply.promise;
  }

  async function serve(id: number, name: string, input: readonly unknown[]): Promise<void> {
    try {
      const method = methods[name];
      if (method === undefined) throw new Error(`cannot call ${name}: it is not served here`);
      const output = await method(...input);
      if (id !== 0) transport.send({ id, output }, buffersOf(output));
    } catch (error) {
      if (id !== 0) transport.send({ id, error: encodeError(error) }, []);
    }
  }

  transport.listen((message) => {
    if ('method' in message) return void serve(message.id, message.method, message.input);
    const reply = pending.get(message.id);
    pending.delete(message.id);
    if ('error' in message) reply?.reject(decodeError(message.error));
    else reply?.resolve(message.output as never);
  });
  void transport.closed.then((reason) => {
    failure = reason;
    // A worker whose main process died must exit first: a refusal would tell senders that their
    // batches are not stored, which is unknown.
    setImmediate(() => {
      for (const { reject } of pending.values()) reject(reason);
      pending.clear();
    });
  });

  return {
    remote: createProxy(call),
    notify: (name, ...input) => send(0, name, input),
    closed: transport.closed,
    close: () => transport.close(),
  };
}

/** Calls the methods in this thread, without a channel. */
export function createRemote<Methods>(served: Served<Methods>): Remote<Methods> {
  const methods = served as Readonly<Record<string, (...input: readonly unknown[]) => never>>;
  return createProxy(async (name, input) => methods[name]!(...input));
}

function createProxy<Methods>(
  call: (method: string, input: readonly unknown[]) => Promise<never>,
): Remote<Methods> {
  const known: Record<string, unknown> = {};
  return new Proxy(known, {
    get(_, name) {
      // A promise that resolves with the proxy looks for `then`.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      return (known[name] ??= (...input: unknown[]) => call(name, input));
    },
  }) as unknown as Remote<Methods>;
}

function buffersOf(value: unknown): ArrayBuffer[] {
  return typeof value === 'object' && value !== null ? (transfers.get(value) ?? []) : [];
}

/** Plain values: a structured clone of an error would lose its code. */
interface EncodedError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Code of a failed system call or an AppError. */
  readonly code: string | undefined;
  readonly cause: EncodedError | undefined;
  /** Set for an AppError. */
  readonly options: Omit<AppErrorOptions, 'cause'> | undefined;
}

function encodeError(thrown: unknown): EncodedError {
  const error: NodeJS.ErrnoException = toError(thrown);
  const { message, stack, code, cause } = error;
  return {
    message,
    stack,
    code,
    cause: cause === undefined ? undefined : encodeError(cause),
    options: error instanceof AppError ? optionsOf(error) : undefined,
  };
}

function optionsOf({ retryAfterSeconds, parameter, rateLimit }: AppError) {
  return {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(parameter !== undefined && { parameter }),
    ...(rateLimit !== undefined && { rateLimit }),
  };
}

function decodeError({ message, stack, code, cause, options }: EncodedError): Error {
  const because = cause && { cause: decodeError(cause) };
  const error =
    options === undefined
      ? Object.assign(new Error(message, because), code !== undefined && { code })
      : new AppError(code as ErrorCode, message, { ...options, ...because });
  if (stack !== undefined) error.stack = stack;
  return error;
}
