/** Entries of Loki as JSON events: labels and structured metadata are members of their event. */
import { AppError } from '../../../model/errors.ts';

const pieceBytes = 256 * 1024;
/** Labels are repeated in each event of their stream. */
const maxLabelBytes = 64 * 1024;
const eventBytesPerBodyByte = 16;
const minEventBytes = 16 * 1024 * 1024;
const maxEventBytes = 128 * 1024 * 1024;
/** The event has fields of these names. */
const reserved = new Set(['message', 'timestamp', 'labels']);
const serviceLabels = ['service_name', 'service', 'service.name'];
const severityLabels = ['severity', 'level'];

export const tooManyLabels = {
  bytes: maxLabelBytes,
  error: () =>
    new AppError('malformed', `cannot accept labels of over ${maxLabelBytes} bytes in one place`),
};

/** @returns the members of a JSON object, each with a comma behind it */
export function toMembers(labels: readonly (readonly [string, unknown])[]): string {
  const names = new Map(labels);
  const members = labels.map(([name, value]) => {
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    return reserved.has(name) ? `"labels":{${member}},` : `${member},`;
  });
  const service = names.get('app') ?? names.get('job');
  if (typeof service === 'string' && !serviceLabels.some((name) => names.has(name))) {
    members.unshift(`"service_name":${JSON.stringify(service)},`);
  }
  const severity = names.get('detected_level');
  if (typeof severity === 'string' && !severityLabels.some((name) => names.has(name))) {
    members.unshift(`"severity":${JSON.stringify(severity)},`);
  }
  return members.join('');
}

/** Collects events until they are a piece for the decoder. */
export class EventLines {
  readonly #encoding: 'latin1' | 'utf8';
  readonly #maxBytes: number;
  #text: string[] = [];
  #size = 0;
  #total = 0;

  /** @param encoding of the events: `latin1` has a character for each byte */
  constructor(bodyBytes: number, encoding: 'latin1' | 'utf8') {
    this.#encoding = encoding;
    const wanted = Math.max(bodyBytes * eventBytesPerBodyByte, minEventBytes);
    this.#maxBytes = Math.min(wanted, maxEventBytes);
  }

  get isFull(): boolean {
    return this.#size >= pieceBytes;
  }

  /** @throws AppError `too_large` */
  add(members: string): void {
    this.#text.push('{', members, '}\n');
    this.#size += members.length;
    this.#total += members.length;
    if (this.#total <= this.#maxBytes) return;
    throw new AppError(
      'too_large',
      `cannot accept more than ${this.#maxBytes} bytes of entries with their labels in one ` +
        'request: split the batch and send the parts',
    );
  }

  take(): Buffer {
    const piece = Buffer.from(this.#text.join(''), this.#encoding);
    this.#text = [];
    this.#size = 0;
    return piece;
  }
}
