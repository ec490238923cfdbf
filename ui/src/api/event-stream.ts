/** Reads `text/event-stream` from a fetch: `EventSource` cannot send a token. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Yields the events of each chunk; ends with the response. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (events.length > 0) yield events.splice(0);
  }
}
