/** Reads syslog messages into slots: RFC 5424, or BSD syslog. */
import { isUtf8 } from 'node:buffer';
import { toSyslogWord } from '../../../model/severity.ts';
import type { OpenEvents } from '../decode-events.ts';
import { EventBatch } from '../event-batch.ts';
import { type EventSlots, field, slotKind } from '../event-fields.ts';
import { labelOrigin, valueKind } from '../label-set.ts';
import type { TextRange } from '../text-slots.ts';
import { eachFrame } from './frames.ts';
import { isSpace, maxHeaderLength, readBsdHeader, type ReadOptions } from './header.ts';
import {
  Parameters,
  part,
  readPriority,
  StandardHeader,
  unescapeInPlace,
} from './structured-data.ts';

/** Of a time, and of the names of structured data, which repeat the name of their element. */
const maxNameBytes = 512 * 1024;
/** U+FFFD has three bytes. */
const repairFactor = 3;
/** Names and values of labels that are not in the message. */
const addedLabelBytes = 64;
const space = 0x20;
const dot = 0x2e;
const more = 0x3e;

/** RFC 5424 §6.2.1, by number. */
const facilities = (
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock ' +
  'local0 local1 local2 local3 local4 local5 local6 local7'
)
  .split(' ')
  .map((name) => Buffer.from(name));
const severities = Array.from({ length: 8 }, (_, number) => toSyslogWord(String(number)));
const facilityName = Buffer.from('facility');
const procIdName = Buffer.from('procid');
const msgIdName = Buffer.from('msgid');

const syslogWarnings = {
  text: 'no syslog header: kept as text',
  cut: 'longer than syslog.maxMessageBytes: cut',
} as const;

export interface SyslogBody extends ReadOptions {
  readonly body: Buffer;
  readonly messages: MessageSlots;
}

export const openMessages: OpenEvents<SyslogBody> = (syslog, workspace, limits) => {
  const batch = new EventBatch(syslog.messages.bytes, workspace, limits);
  return { batch, events: eachMessage(syslog, workspace.slots, batch) };
};

function* eachMessage(
  { body, messages, ...options }: SyslogBody,
  slots: EventSlots,
  batch: EventBatch,
): Generator<number> {
  const isText = isUtf8(body);
  for (const { start, end } of eachFrame(body)) {
    const isCut = end - start > messages.maxMessageBytes;
    if (isCut) batch.warn(syslogWarnings.cut);
    const frame = { start, end: isCut ? start + messages.maxMessageBytes : end };
    messages.load(body, frame, isText && startsText(body, start) && startsText(body, frame.end));
    if (!messages.read(slots, options)) batch.warn(syslogWarnings.text);
    yield messages.eventBytes;
  }
}

/** Whether text may be divided before the byte. */
function startsText(bytes: Buffer, at: number): boolean {
  return at >= bytes.length || (bytes[at]! & 0xc0) !== 0x80;
}

/** One message, of which slots are ranges. Used by all bodies in turn. */
export class MessageSlots {
  readonly maxMessageBytes: number;
  /** The words of severities, the message, and texts that are not in it. */
  readonly bytes: Buffer;
  /** Ends of the words of severities. */
  readonly #severityEnds: readonly number[];
  readonly #start: number;
  readonly #header = new StandardHeader();
  readonly #parameters = new Parameters();
  /** End of the message, and of the texts behind it. */
  #end = 0;
  #addedEnd = 0;

  constructor(maxMessageBytes: number) {
    this.maxMessageBytes = maxMessageBytes;
    const words = severities.join('');
    this.#start = words.length;
    this.bytes = Buffer.allocUnsafeSlow(
      words.length + 2 * repairFactor * maxMessageBytes + maxNameBytes,
    );
    this.bytes.write(words, 'latin1');
    let end = 0;
    this.#severityEnds = severities.map(({ length }) => (end += length));
  }

  /** Bounds the row of the message. */
  get eventBytes(): number {
    return this.#addedEnd - this.#start + addedLabelBytes;
  }

  /** Copies a message. @param isText whether its bytes are known to be UTF-8 */
  load(body: Buffer, { start, end }: TextRange, isText: boolean): void {
    while (end > start && isLineEnd(body[end - 1]!)) end -= 1;
    if (isText || isUtf8(body.subarray(start, end))) {
      this.#end = this.#start + body.copy(this.bytes, this.#start, start, end);
    } else {
      const text = body.toString('utf8', start, end);
      this.#end = this.#start + this.bytes.write(text, this.#start, 'utf8');
    }
    this.#addedEnd = this.#end;
  }

  /** @returns false if the message has no header that can be read */
  read(slots: EventSlots, options: ReadOptions): boolean {
    slots.clear();
    const { bytes } = this;
    const priority = readPriority(bytes, this.#start, this.#end);
    if (priority < 0) {
      this.#setField(slots, field.message, this.#start, this.#end);
      return false;
    }
    const at = bytes.indexOf(more, this.#start) + 1;
    if (this.#readStandard(slots, at)) {
      this.#setPriority(slots, priority);
      return true;
    }
    slots.clear();
    this.#addedEnd = this.#end;
    this.#setPriority(slots, priority);
    return this.#readBsd(slots, at, options);
  }

  #setPriority(slots: EventSlots, priority: number): void {
    const end = this.#severityEnds[priority & 7]!;
    this.#setField(slots, field.severity, end - severities[priority & 7]!.length, end);
    const label = slots.labels.add(facilityName, 0, facilityName.length, labelOrigin.topLevel);
    if (label >= 0) slots.labels.give(label, facilities[priority >> 3]!);
  }

  /** @returns false for another form */
  #readStandard(slots: EventSlots, at: number): boolean {
    const { bytes } = this;
    const header = this.#header;
    const dataAt = header.read(bytes, at, this.#end);
    if (dataAt < 0) return false;
    const parameters = this.#parameters;
    parameters.open(bytes, dataAt, this.#end);
    while (parameters.next(bytes)) this.#takeParameter(slots);
    const after = parameters.at;
    if (after < 0 || (after < this.#end && bytes[after] !== space)) return false;
    this.#setPart(slots, field.timestamp, part.time);
    this.#setPart(slots, field.host, part.host);
    this.#setPart(slots, field.serviceName, part.app);
    if (header.has(bytes, part.procId)) {
      this.#setLabel(slots, procIdName, header.start[part.procId]!, header.end[part.procId]!);
    }
    if (header.has(bytes, part.msgId)) {
      this.#setLabel(slots, msgIdName, header.start[part.msgId]!, header.end[part.msgId]!);
    }
    this.#setField(slots, field.message, this.#startOfText(after + 1), this.#end);
    return true;
  }

  /** After the space that rsyslog repeats from BSD syslog, and a byte order mark. */
  #startOfText(at: number): number {
    const { bytes } = this;
    if (at >= this.#end) return this.#end;
    if (bytes[at] === space) at += 1;
    const hasMark = bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
    return hasMark && at + 3 <= this.#end ? at + 3 : at;
  }

  #takeParameter(slots: EventSlots): void {
    const { bytes } = this;
    const { labels } = slots;
    const { idStart, idEnd, nameStart, nameEnd, valueStart, valueEnd } = this.#parameters;
    if (labels.overflowed || this.#parameters.isToken(bytes)) return;
    const start = this.#addedEnd;
    const dotAt = start + bytes.copy(bytes, start, idStart, idEnd);
    bytes[dotAt] = dot;
    const end = dotAt + 1 + bytes.copy(bytes, dotAt + 1, nameStart, nameEnd);
    const { count } = labels;
    const label = labels.add(bytes, start, end, labelOrigin.topLevel);
    // A name that repeats has its bytes already.
    if (labels.count > count) this.#addedEnd = end;
    if (label < 0) return;
    let value = { start: valueStart, end: valueEnd };
    if (this.#parameters.isEscaped) value = this.#unescape(value);
    labels.set(label, valueKind.verbatim, value.start, value.end);
  }

  /** @returns a copy, since the message is read in another form if this one does not fit */
  #unescape({ start, end }: TextRange): TextRange {
    const to = this.#addedEnd;
    const copied = this.bytes.copy(this.bytes, to, start, end);
    this.#addedEnd = unescapeInPlace(this.bytes, to, to + copied);
    return { start: to, end: this.#addedEnd };
  }

  /** @param at the position after the priority */
  #readBsd(slots: EventSlots, at: number, options: ReadOptions): boolean {
    const { bytes } = this;
    const text = bytes.toString('latin1', at, Math.min(this.#end, at + maxHeaderLength));
    const header = readBsdHeader(text, options);
    if (header === undefined) {
      while (at < this.#end && isSpace(bytes[at]!)) at += 1;
      this.#setField(slots, field.message, at, this.#end);
      return false;
    }
    const { time, host, app, procId } = header;
    this.#addedEnd += bytes.write(time, this.#addedEnd, 'latin1');
    this.#setField(slots, field.timestamp, this.#end, this.#addedEnd);
    if (host !== undefined) this.#setField(slots, field.host, at + host.start, at + host.end);
    if (app !== undefined) this.#setField(slots, field.serviceName, at + app.start, at + app.end);
    if (procId !== undefined) {
      this.#setLabel(slots, procIdName, at + procId.start, at + procId.end);
    }
    this.#setField(slots, field.message, at + header.end, this.#end);
    return true;
  }

  #setPart(slots: EventSlots, index: number, of: number): void {
    const header = this.#header;
    if (!header.has(this.bytes, of)) return;
    this.#setField(slots, index, header.start[of]!, header.end[of]!);
  }

  #setField(slots: EventSlots, index: number, start: number, end: number): void {
    slots.set(index, slotKind.plainString, start, end);
  }

  #setLabel(slots: EventSlots, name: Buffer, start: number, end: number): void {
    const label = slots.labels.add(name, 0, name.length, labelOrigin.topLevel);
    if (label >= 0) slots.labels.set(label, valueKind.verbatim, start, end);
  }
}

function isLineEnd(byte: number): boolean {
  return byte === 0 || byte === 0x0d || byte === 0x0a;
}
