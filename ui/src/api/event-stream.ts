/**
 * Reads `text/event-stream` from a fetch, as browsers do it for `EventSource`
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html), which can send no token. It
 * knows lines and fields, not what the events mean.
 */

export interface ServerEvent {
  /** `message` where the service names none. */
  readonly name: string;
  readonly data: string;
  /** The last id that was given up to here; empty before the first. */
  readonly id: string;
}

/** Takes text as it comes, cut anywhere, and gives the events that it completes. */
export class EventStreamParser {
  #rest = '';
  /** How much of the rest is known to hold no end of a line. */
  #searched = 0;
  #isAtStart = true;
  #name = '';
  #data: string[] = [];
  #id = '';

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    this.#rest += text;
    if (this.#isAtStart && this.#rest !== '') {
      this.#rest = this.#rest.replace(/^\uFEFF/, '');
      this.#isAtStart = false;
    }
    let from = 0;
    for (;;) {
      const end = this.#findLineEnd(Math.max(from, this.#searched));
      if (end === undefined) break;
      const event = this.#takeLine(this.#rest.slice(from, end.at));
      if (event !== undefined) events.push(event);
      from = end.next;
    }
    this.#rest = this.#rest.slice(from);
    // The last character may be the first half of a CR LF.
    this.#searched = Math.max(0, this.#rest.length - 1);
    return events;
  }

  #findLineEnd(from: number): { at: number; next: number } | undefined {
    lineEnd.lastIndex = from;
    const match = lineEnd.exec(this.#rest);
    if (match === null) return undefined;
    const next = match.index + match[0].length;
    // A CR at the very end waits for what follows it: an LF would belong to it.
    if (match[0] === '\r' && next === this.#rest.length) return undefined;
    return { at: match.index, next };
  }

  #takeLine(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #dispatch(): ServerEvent | undefined {
    const event = { name: this.#name || 'message', data: this.#data.join('\n'), id: this.#id };
    const hasData = this.#data.length > 0;
    this.#name = '';
    this.#data = [];
    return hasData ? event : undefined;
  }
}

const lineEnd = /\r\n|\n|\r/g;

/** The events of an answer, those of one chunk together; ends when the service ends it. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly ServerEvent[]> {
  const parser = new EventStreamParser();
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const events = parser.push(decoder.decode(bytes, { stream: true }));
    if (events.length > 0) yield events;
  }
}
