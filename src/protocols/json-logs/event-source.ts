/** Where the decoders of JSON events get each event from: the forms of events that senders use. */
import type { EventSlots } from './event-fields.ts';
import { type EventDialect, EventReader, plainEvents, tolerantEvents } from './event-reader.ts';
import { findFault } from './event-row.ts';

/** Reads the events of one buffer into slots. */
export interface EventSource {
  /**
   * @param at the position of an opening brace
   * @returns the position after the event
   * @throws AppError `malformed`
   */
  read(at: number): number;
  /** @returns the reason to reject the event, '' to store it, or undefined to skip it */
  findFault(): string | undefined;
}

/** @param slots filled with each event */
export type OpenSource = (bytes: Buffer, slots: EventSlots, maxDepth: number) => EventSource;

export const openPlainEvents: OpenSource = openEvents(plainEvents);
export const openTolerantEvents: OpenSource = openEvents(tolerantEvents);

function openEvents(dialect: EventDialect): OpenSource {
  return (bytes, slots, maxDepth) => {
    const reader = new EventReader(bytes, slots, maxDepth, dialect);
    return { read: (at) => reader.read(at), findFault: () => findFault(slots) };
  };
}
