/**
 * The message `prometheus.ReadRequest` of remote read.
 * https://prometheus.io/docs/prometheus/latest/querying/remote_read_api and, in Prometheus' source,
 * prompb/remote.proto. Hints are optional optimisations and are ignored. Pure.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../model/errors.ts';
import type { LabelMatcher, MatcherType, Selector } from '../model/metric-plan.ts';
import { ProtobufWire, toTag, wireType } from '../codec/protobuf-wire.ts';

export interface ReadQuery {
  /** Unix ms, Int64, both ends included; a reversed range is empty. */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** Empty = every series. */
  readonly selector: Selector;
}

const { varint, bytes } = wireType;

const requestTags = {
  query: toTag(1, bytes),
  responseType: toTag(2, varint),
  responseTypes: toTag(2, bytes),
};
const queryTags = { from: toTag(1, varint), until: toTag(2, varint), matcher: toTag(3, bytes) };
const matcherTags = { type: toTag(1, varint), name: toTag(2, bytes), value: toTag(3, bytes) };
const firstUnknownTags = { request: toTag(3, 0), query: toTag(4, 0), matcher: toTag(4, 0) };

/** By number. */
const matcherTypes: readonly MatcherType[] = ['equal', 'notEqual', 'matches', 'notMatches'];
const samplesResponse = 0;

/**
 * @param message inflated.
 * @throws AppError `malformed`, also where the client does not accept samples
 */
export function decodeReadRequest(message: Uint8Array): ReadQuery[] {
  const { buffer, byteOffset, length: end } = message;
  const wire = new ProtobufWire(Buffer.from(buffer, byteOffset, end));
  const queries: ReadQuery[] = [];
  const accepted = new Set<number>();
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === requestTags.query) {
      queries.push(readQuery(wire, wire.lengthEnd(end)));
    } else if (tag === requestTags.responseType) {
      accepted.add(wire.uint64(end));
    } else if (tag === requestTags.responseTypes) {
      const typesEnd = wire.lengthEnd(end);
      while (wire.at < typesEnd) accepted.add(wire.uint64(typesEnd));
    } else {
      if (tag < firstUnknownTags.request) wire.failType(start, tag, 'a read request');
      wire.skip(tag, end);
    }
  }
  if (accepted.size > 0 && !accepted.has(samplesResponse)) {
    throw cannotDecode('no response type that it accepts is served; accept SAMPLES');
  }
  return queries;
}

function readQuery(wire: ProtobufWire, end: number): ReadQuery {
  let fromMs = 0n;
  let untilMs = 0n;
  const selector: LabelMatcher[] = [];
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === queryTags.from) fromMs = wire.int64(end);
    else if (tag === queryTags.until) untilMs = wire.int64(end);
    else if (tag === queryTags.matcher) selector.push(readMatcher(wire, wire.lengthEnd(end)));
    else {
      if (tag < firstUnknownTags.query) wire.failType(start, tag, 'a query');
      wire.skip(tag, end);
    }
  }
  return { fromMs, untilMs, selector };
}

function readMatcher(wire: ProtobufWire, end: number): LabelMatcher {
  let type = 0;
  let name = '';
  let value = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === matcherTags.type) type = wire.uint64(end);
    else if (tag === matcherTags.name) name = readText(wire, end);
    else if (tag === matcherTags.value) value = readText(wire, end);
    else {
      if (tag < firstUnknownTags.matcher) wire.failType(start, tag, 'a matcher');
      wire.skip(tag, end);
    }
  }
  const known = matcherTypes[type];
  if (known === undefined) throw cannotDecode(`a matcher is of type ${type}, which is none`);
  if (name === '') throw cannotDecode('a matcher names no label');
  return { name, type: known, value };
}

/** A string with its length in front. */
function readText(wire: ProtobufWire, end: number): string {
  const textEnd = wire.lengthEnd(end);
  const start = wire.at;
  wire.at = textEnd;
  if (!isUtf8(wire.bytes.subarray(start, textEnd))) wire.fail(start, 'text that is not UTF-8');
  return wire.bytes.toString('utf8', start, textEnd);
}

function cannotDecode(reason: string): AppError {
  return new AppError('malformed', `cannot decode the read request: ${reason}`);
}
