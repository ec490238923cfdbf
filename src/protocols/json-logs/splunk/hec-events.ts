/**
 * Events of Splunk's HTTP Event Collector: an envelope with time, host and source around a text or
 * an object (docs.splunk.com, "Format events for HTTP Event Collector").
 */
import { openBrace, quote, skipValue } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { chooseMessage } from '../choose-fields.ts';
import { field, slotKind } from '../event-fields.ts';
import { documents, EventReader, type OpenReader } from '../event-reader.ts';
import { type TakeMember, walkMembers } from '../json-walk.ts';

const member = { time: 0, host: 1, event: 2, fields: 3 } as const;
const envelopeTable = createKeyTable(Object.keys(member));
const messageTable = createKeyTable(['message']);
const line = Buffer.from('line');
const lineTable = createKeyTable(['line']);

/** The members of an event are fields, as are those of `fields`. Others are labels. */
export const openHecEvents: OpenReader = (bytes, slots, maxDepth) => {
  const reader = new EventReader(bytes, slots, maxDepth, documents);

  /** Of the text of a line, until it is known whether the event has a message. */
  let lineAt = -1;

  /**
   * Loggers of Splunk have what was logged as the message, Docker as the line: if it is an object,
   * its members.
   */
  const takeEventMember: TakeMember = (source, start, end, at) => {
    const isLine = findKey(lineTable, source, start, end) >= 0;
    const isLogged = isLine || findKey(messageTable, source, start, end) >= 0;
    if (isLogged && bytes[at] === openBrace) return reader.readMore(at);
    if (!isLine || bytes[at] !== quote) return reader.readValue(source, start, end, at);
    lineAt = at;
    return skipValue(bytes, at, maxDepth - 1);
  };

  function readEventObject(at: number): number {
    lineAt = -1;
    const end = walkMembers(bytes, at, takeEventMember);
    if (lineAt < 0) return end;
    if (chooseMessage(slots) < 0) reader.readField(field.message, lineAt);
    else reader.readLabel(line, 0, line.length, lineAt);
    return end;
  }

  function readEvent(at: number): number {
    const isObject = bytes[at] === openBrace;
    const end = isObject ? readEventObject(at) : reader.readField(field.message, at);
    // An object without a message is its own message.
    if (isObject || !slots.isAbsent(field.message)) {
      slots.set(field.whole, slotKind.other, at, end);
    }
    return end;
  }

  /** The event takes precedence over a field that would replace its message. */
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

  return (at) => {
    reader.clear();
    const end = walkMembers(bytes, at, takeMember);
    if (slots.isAbsent(field.whole)) slots.fault = 'event is missing';
    return end;
  };
};
