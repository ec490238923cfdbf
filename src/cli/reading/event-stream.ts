/**
 * Server-sent events out of bytes cut anywhere. Source: HTML standard §9.2.6, "Interpreting an
 * event stream". It knows nothing of what the events say.
 */

export interface ServerEvent {
  /** `message` where the server names none. */
  readonly type: string;
  readonly data: string;
  /** The last id that the stream gave so far; empty = none yet. */
  readonly lastEventId: string;
}

/**
 * Yields each event once its empty line has come; what the stream ends within is no event.
 * @throws what the chunks throw
 */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  let lastEventId = '';
  let type = '';
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { type: type || 'message', data: data.join('\n'), lastEventId };
      type = '';
      data = [];
      continue;
    }
    const { name, value } = toField(line);
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) lastEventId = value;
  }
}

/** A line that starts with a colon is a comment: a field without a name. */
function toField(line: string): { name: string; value: string } {
  const colon = line.indexOf(':');
  if (colon < 0) return { name: line, value: '' };
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return { name: line.slice(0, colon), value: line.slice(start) };
}

/** Lines end with LF, CR or both, and both may come in two chunks. */
async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let unfinished = '';
  let endedWithReturn = false;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    const isRestOfEnd = endedWithReturn && text.startsWith('\n');
    endedWithReturn = text.endsWith('\r');
    const [first = '', ...others] = text.slice(isRestOfEnd ? 1 : 0).split(/\r\n|\r|\n/);
    const last = others.pop();
    if (last === undefined) {
      unfinished += first;
      continue;
    }
    yield unfinished + first;
    yield* others;
    unfinished = last;
  }
}
