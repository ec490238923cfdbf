/**
 * The events of a tail as text/event-stream
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Data is JSON on one line, so a
 * line break in a log cannot end an event. Pure.
 */
import { type ArrivalPosition, type ArrivedLog, encodeArrival } from '../model/arrival.ts';
import type { AppError } from '../model/errors.ts';
import { toIsoMillis } from './timestamps.ts';

/** @param position where the tail begins. */
export function openEvent(position: ArrivalPosition, watermarkNanos: bigint): string {
  return encodeEvent('open', { watermark: toIsoMillis(watermarkNanos) }, position);
}

export function logEvent({ position, log }: ArrivedLog): string {
  return encodeEvent('log', log, position);
}

/** @param position up to which all logs were sent. */
export function heartbeatEvent(position: ArrivalPosition): string {
  const watermark = toIsoMillis(position.receivedAtNanos);
  return encodeEvent('heartbeat', { watermark }, position);
}

/** Logs skipped because the reader was too far behind. */
export interface Dropped {
  readonly count: number;
  /** Unix ns of receipt. */
  readonly fromNanos: bigint;
  readonly untilNanos: bigint;
}

/** @param position after the skipped logs. */
export function droppedEvent(position: ArrivalPosition, dropped: Dropped): string {
  const { count, fromNanos, untilNanos } = dropped;
  const range = { fromTime: toIsoMillis(fromNanos), untilTime: toIsoMillis(untilNanos) };
  return encodeEvent('dropped', { count, ...range }, position);
}

/** The last event of a tail that fails; a problem (RFC 9457). */
export function errorEvent({ code, kind, message, retryAfterSeconds }: AppError): string {
  return encodeEvent('error', {
    type: `urn:weir:problem:${code}`,
    status: kind.httpStatus,
    code,
    title: kind.title,
    detail: message,
    ...(kind.retryable && { retryAfterSeconds: retryAfterSeconds ?? 1 }),
  });
}

/** The last event of a tail that Weir ends. */
export function endEvent(position: ArrivalPosition): string {
  return encodeEvent('end', {}, position);
}

function encodeEvent(name: string, data: object, position?: ArrivalPosition): string {
  const id = position === undefined ? '' : `id: ${encodeArrival(position)}\n`;
  return `event: ${name}\n${id}data: ${JSON.stringify(data)}\n\n`;
}
