/** Stores a body that may have no end in steps: each is durable before more is read. */
import { Readable } from 'node:stream';
import type { RequestBody } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { Reply, StepFormat, StepPlace } from '../model/protocol.ts';
import type { IngestRequest } from './admit.ts';

interface StepAnswer {
  readonly reply: Reply;
  /** True if its first records were stored before. */
  readonly replayed: boolean;
}

/** A request that is recognised when it comes again. */
export interface Repeated {
  readonly key: string;
  /** Must be the same for the same key. */
  readonly body: Uint8Array;
}

/**
 * @param answerStep ingests one step as a separate request
 * @returns the last answer, with the records of all steps
 */
export async function answerInSteps<Answer extends StepAnswer>(
  request: IngestRequest,
  format: StepFormat,
  answerStep: (step: IngestRequest) => Promise<Answer>,
): Promise<Answer> {
  const steps = openSteps(request.body, format);
  const headers = { ...request.headers, contentLength: undefined };
  const stepPlace: StepPlace = { mayBeLast: steps.mayBeLast, stored: 0 };
  try {
    for (let records = 0; ; ) {
      const last = await answerStep({ ...request, headers, body: steps.next(), stepPlace });
      records += format.countOf(last.reply);
      if (await steps.hasMore()) continue;
      return { ...last, reply: format.reply(records), replayed: false };
    }
  } finally {
    steps.close();
  }
}

/**
 * Stores a step without the records that are stored: a body that is sent again may be cut
 * elsewhere, but each step that was stored is found by its first record. The last record of a body
 * is stored by itself, so that it is found too: a sender may resume with it.
 */
export async function storeStep<Answer extends StepAnswer>(
  step: Buffer,
  place: StepPlace,
  { keyOf, skip, lastOf, reply, countOf }: StepFormat,
  once: (step: Buffer, repeated: Repeated | undefined) => Promise<Answer>,
): Promise<Answer> {
  const mayBeLast = place.mayBeLast();
  let { rest, skipped: records } = skip(step, place.stored);
  place.stored -= records;
  for (;;) {
    const key = keyOf(rest);
    const last = mayBeLast && key !== undefined ? lastOf(rest) : 0;
    const part = last === 0 ? rest : rest.subarray(0, last);
    const answer = await once(part, key === undefined ? key : { key, body: Buffer.from(key) });
    const count = countOf(answer.reply);
    if (answer.replayed) {
      const found = skip(rest, count);
      rest = found.rest;
      records += found.skipped;
      place.stored = count - found.skipped;
    } else {
      rest = rest.subarray(part.length);
      records += count;
    }
    if (rest.length === 0) return { ...answer, reply: reply(records) };
  }
}

function openSteps(body: RequestBody, format: StepFormat) {
  const chunks: AsyncIterator<Buffer, undefined> = body.stream.iterator({ destroyOnReturn: false });
  /** Read, and part of no step yet. */
  let rest: Buffer | undefined;
  let isFirst = true;
  let mayBeLast = false;

  async function take(): Promise<Buffer | undefined> {
    const held = rest;
    rest = undefined;
    if (held !== undefined) return held;
    const { value } = await chunks.next().catch((cause: unknown) => {
      throw endedEarly(cause);
    });
    if (value === undefined && !body.arrivedWhole()) throw endedEarly();
    return value;
  }

  async function* read(): AsyncGenerator<Buffer> {
    const reader = format.open();
    for (let chunk = await take(); chunk !== undefined; chunk = await take()) {
      const { kept, end } = reader.push(chunk);
      if (end !== undefined && end < chunk.length) rest = chunk.subarray(end);
      mayBeLast = rest === undefined;
      yield kept;
      if (end !== undefined) return;
    }
  }

  return {
    /** The next step. Must be read before the one after it is requested. */
    next(): RequestBody {
      const stream = Readable.from(read());
      // The body may break after its reader has given up.
      stream.on('error', () => {});
      const sendContinue = isFirst ? body.sendContinue : undefined;
      isFirst = false;
      return {
        stream,
        expected: body.expected,
        declaredBytes: undefined,
        arrivedWhole: () => true,
        sendContinue,
      };
    },
    /** Whether the step that was read may be the last; known without waiting for more. */
    mayBeLast: () => mayBeLast,
    /** Whether bytes follow the step. @throws AppError `malformed` if the body ends early */
    async hasMore(): Promise<boolean> {
      rest = body.expected ? await take() : undefined;
      return rest !== undefined;
    },
    /** Leaves what was not read to others. */
    close(): void {
      void chunks.return?.().catch(() => {});
    },
  };
}

function endedEarly(cause?: unknown): AppError {
  return new AppError('malformed', 'cannot read the whole body: it ended early', { cause });
}
