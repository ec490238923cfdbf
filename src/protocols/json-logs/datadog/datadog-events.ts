/** Logs in the form of Datadog as JSON events of Weir, without building their objects. */
import {
  closeBracket,
  failAt,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from '../../../codec/json-scanner.ts';
import { nextElement, readObject } from '../json-walk.ts';
import { maxLabels } from '../label-set.ts';
import { EventLines, tooManyLabels } from '../loki/loki-events.ts';

/** @throws AppError `malformed` | `too_large` */
export function* eachDatadogPiece(body: Buffer, maxDepth: number): Generator<Buffer> {
  const lines = new EventLines(body.length, 'latin1');
  let at = skipSpace(body, 0);
  if (body[at] === openBracket) {
    at = skipSpace(body, at + 1);
    while (body[at] !== closeBracket) {
      at = nextElement(body, addEvent(body, at, maxDepth, lines));
      if (lines.isFull) yield lines.take();
    }
    at += 1;
  } else {
    at = addEvent(body, at, maxDepth, lines);
  }
  at = skipSpace(body, at);
  if (at < body.length) failAt(body, at, 'the end of the body');
  yield lines.take();
}

/** @returns the position after the event */
function addEvent(body: Buffer, at: number, maxDepth: number, lines: EventLines): number {
  if (body[at] !== openBrace) failAt(body, at, 'an event');
  const members: string[] = [];
  const keys = new Set<string>();
  let tags = '';
  let status = '';
  let date = '';
  const end = readObject(body, at, maxDepth, (key, start, valueEnd) => {
    const isString = body[start] === quote;
    if (key === 'ddtags' && isString) {
      tags = readTags(body, start, valueEnd);
      return;
    }
    const value = body.toString('latin1', start, valueEnd);
    if (key === 'status' && isString) status = value;
    else if (key === 'date') date = value;
    else {
      keys.add(key);
      members.push(`"${key}":${value}`);
    }
  });
  if (tags !== '') members.push(`"labels":${tags}`);
  if (status !== '') members.push(`"${keys.has('severity') ? 'status' : 'severity'}":${status}`);
  if (date !== '') members.push(`"${keys.has('timestamp') ? 'date' : 'timestamp'}":${date}`);
  // The Agent sends an empty object to learn whether the address takes logs.
  if (members.length > 0) lines.add(members.join(','));
  return end;
}

/**
 * Repeated names keep all values, with commas between them; a tag without a value is "true".
 * @returns a JSON object in the encoding of `latin1`, or '' without tags
 */
function readTags(body: Buffer, start: number, end: number): string {
  if (end - start > tooManyLabels.bytes) throw tooManyLabels.error();
  const text = JSON.parse(body.toString('utf8', start, end)) as string;
  const tags = new Map<string, string>();
  for (const tag of text.split(',')) {
    // Enough for the event to be rejected.
    if (tags.size > maxLabels) break;
    const trimmed = tag.trim();
    if (trimmed === '') continue;
    const colon = trimmed.indexOf(':');
    const name = colon < 0 ? trimmed : trimmed.slice(0, colon);
    const value = colon < 0 ? 'true' : trimmed.slice(colon + 1);
    const earlier = tags.get(name);
    tags.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  if (tags.size === 0) return '';
  return Buffer.from(JSON.stringify(Object.fromEntries(tags))).toString('latin1');
}
