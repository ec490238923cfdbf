/**
 * The message `prometheus.ReadRequest` of remote read.
 * https://prometheus.io/docs/prometheus/latest/querying/remote_read_api and, in Prometheus' source,
 * prompb/remote.proto. Hints only help a server to do less; they are passed over. Pure.
 */
import type { LabelMatcher, MatcherType, Selector } from '../model/metric-plan.ts';
import { malformed, packedVarints, protobufFields, toText } from './protobuf-fields.ts';

export interface ReadQuery {
  /** Unix ms, Int64, both ends included; backwards = nothing. */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** Empty = every series. */
  readonly selector: Selector;
}

/** By number. */
const matcherTypes: readonly MatcherType[] = ['equal', 'notEqual', 'matches', 'notMatches'];
const samplesResponse = 0n;

/**
 * @param message inflated.
 * @throws AppError `malformed`, also where the client takes no answer in samples
 */
export function decodeReadRequest(message: Uint8Array): ReadQuery[] {
  const queries: ReadQuery[] = [];
  const accepted: bigint[][] = [];
  for (const { number, value } of protobufFields(message)) {
    if (number === 1) queries.push(decodeQuery(toMessage(value)));
    else if (number === 2) accepted.push(toNumbers(value));
  }
  const types = accepted.flat();
  if (types.length > 0 && !types.includes(samplesResponse)) {
    throw malformed('no response type that it accepts is served; accept SAMPLES');
  }
  return queries;
}

function decodeQuery(message: Uint8Array): ReadQuery {
  let fromMs = 0n;
  let untilMs = 0n;
  const selector: LabelMatcher[] = [];
  for (const { number, value } of protobufFields(message)) {
    if (number === 1) fromMs = BigInt.asIntN(64, toNumber(value));
    else if (number === 2) untilMs = BigInt.asIntN(64, toNumber(value));
    else if (number === 3) selector.push(decodeMatcher(toMessage(value)));
  }
  return { fromMs, untilMs, selector };
}

function decodeMatcher(message: Uint8Array): LabelMatcher {
  let type: MatcherType | undefined = 'equal';
  let name = '';
  let text = '';
  for (const { number, value } of protobufFields(message)) {
    if (number === 1) type = matcherTypes[Number(toNumber(value))];
    else if (number === 2) name = toText(toMessage(value));
    else if (number === 3) text = toText(toMessage(value));
  }
  if (type === undefined) throw malformed('a matcher is of no known type');
  if (name === '') throw malformed('a matcher names no label');
  return { name, type, value: text };
}

/** A repeated number stands alone, or several of them in one field. */
function toNumbers(value: bigint | Uint8Array | undefined): bigint[] {
  return value instanceof Uint8Array ? packedVarints(value) : [toNumber(value)];
}

function toNumber(value: bigint | Uint8Array | undefined): bigint {
  if (typeof value === 'bigint') return value;
  throw malformed('a field is no number where one is due');
}

function toMessage(value: bigint | Uint8Array | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw malformed('a field has no bytes where they are due');
}
