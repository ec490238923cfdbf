/** Decodes push requests of Loki, in either encoding, to `logs/1` rows. */
import { isUtf8 } from 'node:buffer';
import { createSlicedDecoder, type Decoding } from '../../../codec/sliced-decoder.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import type { DecodeLimits } from '../../../model/protocol.ts';
import { EventBatch } from '../event-batch.ts';
import type { EventSlots } from '../event-fields.ts';
import { findFault } from '../event-row.ts';
import { EventWorkspace } from '../event-workspace.ts';
import { EntrySlots } from './loki-entry.ts';
import { eachJsonEntry } from './loki-json.ts';
import { eachProtobufEntry, openPushRequest } from './loki-protobuf.ts';

const sliceBytes = 512 * 1024;
/** Labels of a stream are stored with each of its entries. */
const entryBytesPerBodyByte = 16;
const mebibyte = 1024 * 1024;
const minEntryBytes = 16 * mebibyte;
const maxEntryBytes = 128 * mebibyte;

export type PushDecoder = (
  body: Buffer,
  encoding: 'json' | 'protobuf',
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that cannot be read, and `too_large` for more
 * than `maxEvents` entries, or too many bytes of labels.
 */
export function createPushDecoder(): PushDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, encoding, limits) =>
    decodeInSlices((workspace) => {
      const wanted = Math.max(body.length * entryBytesPerBodyByte, minEntryBytes);
      const maxBytes = Math.min(wanted, maxEntryBytes);
      const open = encoding === 'json' ? openJson : openProtobuf;
      return new PushDecoding(open(body, workspace, limits), workspace.slots, maxBytes);
    });
}

interface Push {
  readonly batch: EventBatch;
  readonly entry: EntrySlots;
  /** Fills the slots with each entry and yields its bytes. */
  readonly entries: Iterator<number>;
}

function openJson(body: Buffer, workspace: EventWorkspace, limits: DecodeLimits): Push {
  if (!isUtf8(body)) {
    throw new AppError('malformed', 'cannot read the body: it is not valid UTF-8');
  }
  const entry = new EntrySlots(body, workspace.slots, limits.maxDepth);
  return {
    batch: new EventBatch(body, workspace, limits),
    entry,
    entries: eachJsonEntry(body, entry),
  };
}

function openProtobuf(body: Buffer, workspace: EventWorkspace, limits: DecodeLimits): Push {
  const request = openPushRequest(body);
  const entry = new EntrySlots(request.bytes, workspace.slots, limits.maxDepth);
  return {
    batch: new EventBatch(request.bytes, workspace, limits),
    entry,
    entries: eachProtobufEntry(request, entry),
  };
}

class PushDecoding implements Decoding {
  readonly #push: Push;
  readonly #slots: EventSlots;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(push: Push, slots: EventSlots, maxBytes: number) {
    this.#push = push;
    this.#slots = slots;
    this.#maxBytes = maxBytes;
  }

  run(): boolean {
    const { batch, entry, entries } = this.#push;
    const sliceEnd = this.#bytes + sliceBytes;
    while (this.#bytes < sliceEnd) {
      const next: IteratorResult<number, unknown> = entries.next();
      if (next.done === true) return true;
      this.#bytes += next.value;
      if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
      entry.finish();
      batch.take(findFault(this.#slots), next.value);
    }
    return false;
  }

  finish(): Batch {
    return this.#push.batch.finish();
  }

  #tooLarge(): AppError {
    return new AppError(
      'too_large',
      `cannot accept more than ${this.#maxBytes} bytes of entries with their labels in one ` +
        'request: split the batch and send the parts',
    );
  }
}
