/** Mutants: decoders with one defect each. A fuzzer that misses them is useless. */
import type { Batch } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import type { DecodeContext, Protocol } from '../../src/model/protocol.ts';
import { openProtocol, type Wire } from './protocol-trial.ts';
import type { BatchSubject } from './subject.ts';

type Decode = (body: Buffer, context: DecodeContext) => Promise<Batch>;
/** Turns a correct decoder into a broken one. */
type Break = (decode: Decode) => Decode;

export const breaks: Readonly<Record<string, Break>> = {
  'throws what is no AppError': (decode) => async (body, context) => {
    if (body.includes(0x80)) throw new RangeError('offset is out of bounds');
    return decode(body, context);
  },
  'throws an AppError of another kind': (decode) => async (body, context) => {
    if (body.length % 7 === 0) throw new AppError('internal', 'cannot go on');
    return decode(body, context);
  },
  'returns a part of the payload': (decode) => async (body, context) => {
    const batch = await decode(body, context);
    return { ...batch, payload: batch.payload.subarray(0, batch.payload.length - 1) };
  },
  'counts one row too many': (decode) => async (body, context) => {
    const batch = await decode(body, context);
    return batch.rows > 1 ? { ...batch, rows: batch.rows + 1 } : batch;
  },
  'returns what it had when it met the fault': (decode) => {
    let last: Batch | undefined;
    return async (body, context) => {
      try {
        return (last = await decode(body, context));
      } catch (error) {
        if (last === undefined) throw error;
        return last;
      }
    };
  },
  'keeps something from the body before': (decode) => {
    let before = 0;
    return async (body, context) => {
      const batch = await decode(body, context);
      const kept = before;
      before = batch.rows;
      return kept === 3 ? { ...batch, rejectedCount: batch.rejectedCount + 1 } : batch;
    };
  },
  'stores an event that it rejects': (decode) => async (body, context) => {
    const batch = await decode(body, context);
    if (batch.rows < 2 || batch.rejectedCount > 0) return batch;
    const rejected = [{ index: 0, reason: 'it is the first' }];
    return { ...batch, rejected, rejectedCount: 1, rejectedByReason: new Map([['first', 1]]) };
  },
  'returns its working memory': (decode) => {
    const memory = Buffer.alloc(1024 * 1024);
    return async (body, context) => {
      const batch = await decode(body, context);
      memory.set(batch.payload);
      return { ...batch, payload: memory.subarray(0, batch.payload.length) };
    };
  },
  'writes to the body': (decode) => async (body, context) => {
    const batch = await decode(body, context);
    body[0] = 0x20;
    return batch;
  },
  'reads beyond the body': (decode) => async (body, context) => {
    const beyond = Buffer.from(body.buffer, body.byteOffset, body.length + 1);
    return decode(body.length % 5 === 0 ? beyond : body, context);
  },
};

/** The subject with another decoder. */
export function breakSubject(subject: BatchSubject, { protocol, ...wire }: Wire, how: Break) {
  return {
    ...subject,
    open: () => {
      const decode = how(async (body, context) => protocol.decode(body, wire.format, context));
      const broken: Protocol = {
        ...protocol,
        decode: (body, _format, context) => decode(body, context),
      };
      return openProtocol({ ...wire, protocol: broken });
    },
  };
}
