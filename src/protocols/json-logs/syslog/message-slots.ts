/** Reads syslog messages into slots. */
import { addCount } from '../../../codec/rejections.ts';
import { toSyslogWord } from '../../../model/severity.ts';
import type { OpenEvents } from '../decode-events.ts';
import { EventBatch } from '../event-batch.ts';
import { type EventSlots, field, slotKind } from '../event-fields.ts';
import { labelOrigin, valueKind } from '../label-set.ts';
import { splitFrames } from './frames.ts';
import { readMessage, type ReadOptions, type SyslogMessage } from './header.ts';

/** Of the names of structured data, which repeat the name of their element, and of a time. */
const maxNameBytes = 512 * 1024;
/** U+FFFD has three bytes. */
const repairFactor = 3;
/** Names of labels that are not in the message. */
const labelNameBytes = 64;
const facilityName = Buffer.from('facility');
const procIdName = Buffer.from('procid');
const msgIdName = Buffer.from('msgid');

const syslogWarnings = {
  text: 'no syslog header: kept as text',
  cut: 'longer than syslog.maxMessageBytes: cut',
} as const;

export interface SyslogBody extends ReadOptions {
  readonly body: Buffer;
  readonly slots: MessageSlots;
  readonly warnings: Map<string, number>;
}

export const openMessages: OpenEvents<SyslogBody> = (syslog, workspace, limits) => ({
  batch: new EventBatch(syslog.slots.bytes, workspace, limits),
  events: eachMessage(syslog, workspace.slots),
});

function* eachMessage(
  { body, slots, warnings, ...options }: SyslogBody,
  into: EventSlots,
): Generator<number> {
  for (const frame of splitFrames(body)) {
    const isCut = frame.length > slots.maxMessageBytes;
    if (isCut) addCount(warnings, syslogWarnings.cut);
    const text = frame.toString('utf8', 0, Math.min(frame.length, slots.maxMessageBytes));
    const message = readMessage(text.replace(/[\0\r\n]+$/, ''), options);
    if (!message.hasHeader) addCount(warnings, syslogWarnings.text);
    yield slots.fill(into, message);
  }
}

/** The texts of one message, of which slots are ranges. Used by all bodies in turn. */
export class MessageSlots {
  readonly maxMessageBytes: number;
  readonly bytes: Buffer;
  #length = 0;

  constructor(maxMessageBytes: number) {
    this.maxMessageBytes = maxMessageBytes;
    this.bytes = Buffer.allocUnsafeSlow(repairFactor * maxMessageBytes + maxNameBytes);
  }

  /** @returns the bytes of the event */
  fill(slots: EventSlots, { message, severity, app, host, time, ...rest }: SyslogMessage): number {
    slots.clear();
    this.#length = 0;
    this.#setField(slots, field.message, message);
    if (severity !== undefined) {
      this.#setField(slots, field.severity, toSyslogWord(String(severity)));
    }
    this.#setField(slots, field.serviceName, app);
    this.#setField(slots, field.host, host);
    this.#setField(slots, field.timestamp, time);
    this.#setLabel(slots, facilityName, rest.facility);
    this.#setLabel(slots, procIdName, rest.procId);
    this.#setLabel(slots, msgIdName, rest.msgId);
    for (const [name, value] of rest.data ?? []) {
      const start = this.#write(name);
      const end = this.#length;
      const label = slots.labels.add(this.bytes, start, end, labelOrigin.topLevel);
      this.#setValue(slots, label, value);
    }
    return this.#length + labelNameBytes;
  }

  #setField(slots: EventSlots, index: number, text: string | undefined): void {
    if (text === undefined) return;
    const start = this.#write(text);
    slots.set(index, slotKind.plainString, start, this.#length);
  }

  #setLabel(slots: EventSlots, name: Buffer, text: string | undefined): void {
    if (text === undefined) return;
    const label = slots.labels.add(name, 0, name.length, labelOrigin.topLevel);
    this.#setValue(slots, label, text);
  }

  /** @param label or -1 if there are too many */
  #setValue(slots: EventSlots, label: number, text: string): void {
    if (label < 0) return;
    const start = this.#write(text);
    slots.labels.set(label, valueKind.verbatim, start, this.#length);
  }

  /** @returns the position of the text */
  #write(text: string): number {
    const start = this.#length;
    this.#length += this.bytes.write(text, start, 'utf8');
    return start;
  }
}
