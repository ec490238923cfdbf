/** Records of bodies that are sent again, cut elsewhere, from the start or from the last record. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RequestBody } from '../admission/port.ts';
import type { Reply, StepFormat } from '../model/protocol.ts';
import type { IngestRequest } from './admit.ts';
import { answerInSteps, storeStep } from './ingest-steps.ts';

const newline = 0x0a;
const recordBytes = 3;
const toReply = (count: number): Reply => ({
  status: 200,
  contentType: undefined,
  body: String(count),
});

/** Records of two digits and a line break, in steps of `perStep`. */
function formatOf(perStep: number): StepFormat {
  return {
    open() {
      let records = 0;
      return {
        push(chunk) {
          for (let at = 0; at < chunk.length; at += 1) {
            if (chunk[at] !== newline) continue;
            records += 1;
            if (records === perStep) return { kept: chunk.subarray(0, at + 1), end: at + 1 };
          }
          return { kept: chunk, end: undefined };
        },
      };
    },
    keyOf: (step) => (step.length === 0 ? undefined : step.toString('latin1', 0, 2)),
    skip(step, records) {
      const skipped = Math.min(records, step.length / recordBytes);
      return { rest: step.subarray(skipped * recordBytes), skipped };
    },
    lastOf: (step) => Math.max(0, step.length - recordBytes),
    reply: toReply,
    countOf: ({ body }) => Number(body.toString()),
  };
}

/** What the queue has: records, and the answers of requests by their keys. */
class Stored {
  readonly records: string[] = [];
  readonly #answers = new Map<string, Reply>();

  async send(records: readonly string[], chunkBytes: number, perStep: number): Promise<Reply> {
    const format = formatOf(perStep);
    const text = Buffer.from(records.map((record) => `${record}\n`).join(''));
    const chunks = Array.from({ length: Math.ceil(text.length / chunkBytes) }, (_, n) =>
      text.subarray(n * chunkBytes, (n + 1) * chunkBytes),
    );
    const body: RequestBody = {
      stream: Readable.from(chunks),
      expected: true,
      declaredBytes: undefined,
      arrivedWhole: () => true,
      sendContinue: undefined,
    };
    const request = { headers: {}, body } as IngestRequest;
    const { reply } = await answerInSteps(request, format, async (one) => {
      const step = Buffer.concat(await one.body.stream.toArray());
      return storeStep(step, one.stepPlace!, format, async (part, repeated) =>
        this.#once(part, repeated?.key),
      );
    });
    return reply;
  }

  #once(part: Buffer, key: string | undefined) {
    const first = key === undefined ? undefined : this.#answers.get(key);
    if (first !== undefined) return { reply: first, replayed: true };
    const records = part.toString('latin1').split('\n').slice(0, -1);
    this.records.push(...records);
    const reply = toReply(records.length);
    if (key !== undefined) this.#answers.set(key, reply);
    return { reply, replayed: false };
  }
}

const all = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

test('stores each record once, and answers with all of a body', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.array(
        fc.record({
          more: fc.integer({ min: 0, max: 12 }),
          from: fc.constantFrom('the start', 'the last record'),
          chunkBytes: fc.integer({ min: 1, max: 40 }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      async (perStep, bodies) => {
        const stored = new Stored();
        let end = 0;
        for (const { more, from, chunkBytes } of bodies) {
          const start = from === 'the start' ? 0 : Math.max(0, end - 1);
          end += more;
          const sent = all.slice(start, end);
          const reply = await stored.send(sent, chunkBytes, perStep);
          assert.equal(reply.body, String(sent.length));
        }
        assert.deepEqual(stored.records, all.slice(0, end));
      },
    ),
  ));
