/**
 * Reads `text/event-stream` from a fetch
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html): `EventSource` cannot send a
 * token.
 */

export interface ServerEvent {
  /** Default `message`. */
  readonly name: string;
  readonly data: string;
  /** The last id received; empty before the first. */
  readonly id: string;
}

/** Appends a chunk and returns the events that it completes. */
export class EventStreamParser {
  #rest = '';
  /** Length of the rest already searched for a line end. */
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
    // A CR at the end of the chunk waits: the next character may be its LF.
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

/** Yields the events of each chunk; ends with the response. */
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
