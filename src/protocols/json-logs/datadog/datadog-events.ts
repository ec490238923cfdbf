/** Logs in the form of Datadog (https://docs.datadoghq.com/api/latest/logs/#send-logs). */
import { comma, quote, scanString, skipValue } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { maxLabelBytes } from '../event-batch.ts';
import { type EventSlots, field, slotKind } from '../event-fields.ts';
import { EventReader, type OpenReader, tolerantEvents } from '../event-reader.ts';
import { type TakeMember, walkMembers } from '../json-walk.ts';
import { labelOrigin, maxLabels, valueKind } from '../label-set.ts';
import type { TextRange } from '../text-slots.ts';

const member = { tags: 0, status: 1, date: 2 } as const;
const memberTable = createKeyTable(['ddtags', 'status', 'date']);
const status = Buffer.from('status');
const date = Buffer.from('date');
const space = 0x20;
const colon = 0x3a;
/** Value of a tag that is only a name. */
const noValue = Buffer.from('true');
/** Bytes of a tag in its row beside its name and value. */
const tagBytes = 16;

/**
 * `ddtags` are labels. `status` is the severity and `date` the time of a log without these. A log
 * without a message is its own message: Fluent Bit repeats a request that is answered with 400, and
 * with it the logs that were stored.
 */
export const openDatadogLogs: OpenReader = (bytes, slots, maxDepth) => {
  const reader = new EventReader(bytes, slots, maxDepth, tolerantEvents);
  let isEmpty = true;
  let tagsAt = -1;
  let statusAt = -1;
  let dateAt = -1;

  const takeMember: TakeMember = (source, start, end, at) => {
    isEmpty = false;
    const known = findKey(memberTable, source, start, end);
    if (known === member.tags && bytes[at] === quote) tagsAt = at;
    else if (known === member.status && bytes[at] === quote) statusAt = at;
    else if (known === member.date) dateAt = at;
    else return reader.readValue(source, start, end, at);
    return skipValue(bytes, at, maxDepth - 1);
  };

  function readUnlessFilled(index: number, name: Buffer, at: number): void {
    if (at < 0) return;
    if (slots.isAbsent(index)) reader.readField(index, at);
    else reader.readLabel(name, 0, name.length, at);
  }

  return (at) => {
    reader.clear();
    isEmpty = true;
    tagsAt = -1;
    statusAt = -1;
    dateAt = -1;
    const end = walkMembers(bytes, at, takeMember);
    // Last: an object of labels would replace those before it.
    if (tagsAt >= 0) readTags(bytes, tagsAt, slots);
    readUnlessFilled(field.severity, status, statusAt);
    readUnlessFilled(field.timestamp, date, dateAt);
    slots.set(field.whole, slotKind.other, at, end);
    // The Agent sends an empty object to learn whether the address takes logs.
    slots.isSkipped = isEmpty;
    return end;
  };
};

/** @param at the opening quote */
function readTags(bytes: Buffer, at: number, slots: EventSlots): void {
  const scanned = scanString(bytes, at + 1);
  const end = scanned < 0 ? ~scanned : scanned;
  if (end - at > maxLabelBytes) {
    slots.fault = `ddtags of over ${maxLabelBytes} bytes`;
    return;
  }
  const isDone = scanned >= 0 && readVerbatimTags(bytes, { start: at + 1, end }, slots);
  if (!isDone) giveTags(JSON.parse(bytes.toString('utf8', at, end + 1)) as string, slots);
}

/** @returns false if the log has a label of the name of a tag */
function readVerbatimTags(bytes: Buffer, range: TextRange, slots: EventSlots): boolean {
  const { labels } = slots;
  for (let at = range.start; at < range.end; ) {
    let tagEnd = at;
    let nameEnd = -1;
    for (; tagEnd < range.end && bytes[tagEnd] !== comma; tagEnd += 1) {
      if (nameEnd < 0 && bytes[tagEnd] === colon) nameEnd = tagEnd;
    }
    let start = at;
    let end = tagEnd;
    while (start < end && bytes[start] === space) start += 1;
    while (start < end && bytes[end - 1] === space) end -= 1;
    at = tagEnd + 1;
    if (start === end) continue;
    const { count } = labels;
    const name = nameEnd < 0 ? end : nameEnd;
    const index = labels.add(bytes, start, name, labelOrigin.labelsObject);
    if (labels.count === count) return false;
    if (nameEnd >= 0) labels.set(index, valueKind.verbatim, nameEnd + 1, end);
    else giveValue(slots, index, noValue);
  }
  return true;
}

/** Repeated names keep all values, with commas between them. */
function giveTags(text: string, slots: EventSlots): void {
  const tags = new Map<string, string>();
  for (const tag of text.split(',')) {
    // Enough for the event to be rejected.
    if (tags.size > maxLabels) break;
    const trimmed = tag.trim();
    if (trimmed === '') continue;
    const colonAt = trimmed.indexOf(':');
    const name = colonAt < 0 ? trimmed : trimmed.slice(0, colonAt);
    const value = colonAt < 0 ? 'true' : trimmed.slice(colonAt + 1);
    const earlier = tags.get(name);
    tags.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  for (const [name, value] of tags) {
    const key = Buffer.from(name);
    const index = slots.labels.add(key, 0, key.length, labelOrigin.labelsObject);
    if (index >= 0) giveValue(slots, index, Buffer.from(value));
  }
}

/** Values may stand in a column besides. */
function giveValue(slots: EventSlots, index: number, value: Buffer): void {
  slots.labels.give(index, value);
  slots.addedBytes += tagBytes + 2 * value.length;
}
