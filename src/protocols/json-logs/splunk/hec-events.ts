/**
 * Events of Splunk's HTTP Event Collector: an envelope with time, host and source around a text or
 * an object (docs.splunk.com, "Format events for HTTP Event Collector").
 */
import { openBrace, skipValue } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import type { OpenSource } from '../event-source.ts';
import { field, slotKind } from '../event-fields.ts';
import { documents, EventReader } from '../event-reader.ts';
import { findFault } from '../event-row.ts';
import { type TakeMember, walkMembers } from '../json-walk.ts';

const member = { time: 0, host: 1, event: 2, fields: 3 } as const;
const envelopeTable = createKeyTable(Object.keys(member));
const messageTable = createKeyTable(['message']);

/** The members of an event are fields, as are those of `fields`. Others are labels. */
export const openHecEvents: OpenSource = (bytes, slots, maxDepth) => {
  const reader = new EventReader(bytes, slots, maxDepth, documents);

  /** Loggers of Splunk have what was logged as the message: if it is an object, its members. */
  const takeEventMember: TakeMember = (source, start, end, at) => {
    const isLogged = bytes[at] === openBrace && findKey(messageTable, source, start, end) >= 0;
    return isLogged ? reader.readMore(at) : reader.readValue(source, start, end, at);
  };

  function readEvent(at: number): number {
    const isObject = bytes[at] === openBrace;
    const end = isObject
      ? walkMembers(bytes, at, takeEventMember)
      : reader.readField(field.message, at);
    // An object without a message is its own message.
    if (isObject || !slots.isAbsent(field.message)) {
      slots.set(field.whole, slotKind.other, at, end);
    }
    return end;
  }

  /** The event stands above a field that would replace its message. */
  const takeField: TakeMember = (source, start, end, at) =>
    findKey(messageTable, source, start, end) < 0
      ? reader.readValue(source, start, end, at)
      : reader.readLabel(source, start, end, at);

  const takeMember: TakeMember = (source, start, end, at) => {
    switch (findKey(envelopeTable, source, start, end)) {
      case member.time:
        return reader.readField(field.givenTime, at);
      case member.host:
        return reader.readField(field.givenHost, at);
      case member.event:
        return readEvent(at);
      case member.fields:
        return bytes[at] === openBrace
          ? walkMembers(bytes, at, takeField)
          : skipValue(bytes, at, maxDepth - 1);
      default:
        return reader.readLabel(source, start, end, at);
    }
  };

  return {
    read(at) {
      reader.clear();
      return walkMembers(bytes, at, takeMember);
    },
    findFault: () => (slots.isAbsent(field.whole) ? 'event is missing' : findFault(slots)),
  };
};
