/** Decodes push requests of Loki, in either encoding, to `logs/1` rows. */
import { repairText } from '../../../codec/body-text.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import type { DecodeLimits } from '../../../model/protocol.ts';
import { createEventsDecoder, type OpenEvents } from '../decode-events.ts';
import { EventBatch } from '../event-batch.ts';
import { EntrySlots } from './loki-entry.ts';
import { eachJsonEntry } from './loki-json.ts';
import { eachProtobufEntry, openPushRequest } from './loki-protobuf.ts';

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
  const decoders = {
    json: createEventsDecoder(openJson),
    protobuf: createEventsDecoder(openProtobuf),
  };
  return (body, encoding, limits) => decoders[encoding](body, limits);
}

const openJson: OpenEvents<Buffer> = (body, workspace, limits) => {
  const text = repairText(body);
  const { bytes } = text;
  const entry = new EntrySlots(bytes, workspace.slots, limits.maxDepth);
  const events = limitBytes(eachJsonEntry(bytes, entry), body.length);
  const batch = new EventBatch(bytes, workspace, limits);
  batch.warnOf(text);
  return { batch, events };
};

const openProtobuf: OpenEvents<Buffer> = (body, workspace, limits) => {
  const request = openPushRequest(body, limits.maxEvents);
  const entry = new EntrySlots(request.bytes, workspace.slots, limits.maxDepth);
  const events = limitBytes(eachProtobufEntry(request, entry), body.length);
  return { batch: new EventBatch(request.bytes, workspace, limits), events };
};

function limitBytes(entries: Iterator<number>, bodyBytes: number): Iterator<number> {
  const wanted = Math.max(bodyBytes * entryBytesPerBodyByte, minEntryBytes);
  const maxBytes = Math.min(wanted, maxEntryBytes);
  let bytes = 0;
  return {
    next() {
      const next = entries.next();
      if (next.done === true) return next;
      bytes += next.value;
      if (bytes <= maxBytes) return next;
      throw new AppError(
        'too_large',
        `cannot accept more than ${maxBytes} bytes of entries with their labels in one ` +
          'request: split the batch and send the parts',
      );
    },
  };
}
