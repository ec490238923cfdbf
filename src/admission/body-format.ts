/**
 * Matches the media type (RFC 9110 §8.3) and content coding (§8.4) of a body strictly against those
 * of a protocol, before the body is read.
 */
import { AppError } from '../model/errors.ts';
import type { BodyFormat, ContentCoding, MediaTypeRule, Protocol } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';

/** ASCII is UTF-8 as well; `utf8` is no registered name, and often sent. */
const utf8Charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii']);
const noParameters: ReadonlyMap<string, string> = new Map();
const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const mediaTypePattern = new RegExp(`^(${token}/${token})[ \\t]*(;.*)?$`);
const parameterPattern = new RegExp(
  `;[ \\t]*(?:(${token})=(?:(${token})|"([^"\\\\]*)")[ \\t]*)?`,
  'y',
);

type Accepted = Pick<
  Protocol,
  'mediaTypes' | 'takesAnyMediaType' | 'codings' | 'codingAliases' | 'formatAdvice'
>;

/** @throws AppError `unsupported_media` */
export function bodyFormat(headers: RequestHeaders, accepted: Accepted): BodyFormat {
  const { mediaType, parameters } = mediaTypeOf(headers.contentType, accepted);
  return { mediaType, parameters, coding: codingOf(headers.contentEncoding, accepted) };
}

function mediaTypeOf(values: readonly string[], accepted: Accepted): Omit<BodyFormat, 'coding'> {
  const { mediaTypes: rules } = accepted;
  const names = rules.map(({ name }) => name);
  if (accepted.takesAnyMediaType) return { mediaType: names[0] ?? '', parameters: noParameters };
  const [value, second] = values;
  if (value === undefined) {
    throw unsupported('cannot determine the content type: none was sent', names, accepted);
  }
  if (second !== undefined) {
    const message = 'cannot choose between two content types: send exactly one';
    throw unsupported(message, names, accepted);
  }
  for (const { name, required } of rules) {
    if (name !== value || required !== undefined) continue;
    return { mediaType: name, parameters: noParameters };
  }
  const [, name, rest] = mediaTypePattern.exec(value.toLowerCase()) ?? [];
  const rule = rules.find((candidate) => candidate.name === name);
  const parameters = rule === undefined ? undefined : readParameters(rest ?? '', rule);
  if (rule === undefined || parameters === undefined) {
    const message = `cannot accept the content type ${JSON.stringify(value.slice(0, 100))}`;
    throw unsupported(message, names, accepted);
  }
  return { mediaType: rule.name, parameters };
}

/** @returns undefined if a parameter is missing, malformed, repeated or not allowed */
function readParameters(text: string, rule: MediaTypeRule): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  const seen = new Set<string>();
  parameterPattern.lastIndex = 0;
  while (parameterPattern.lastIndex < text.length) {
    const match = parameterPattern.exec(text);
    if (match === null) return undefined;
    const [, name, plain, quoted] = match;
    if (name === undefined) continue;
    const value = plain ?? quoted ?? '';
    if (seen.has(name)) return undefined;
    seen.add(name);
    if (name === 'charset') {
      if (!utf8Charsets.has(value)) return undefined;
      continue;
    }
    const allowed = rule.parameters;
    if (allowed === undefined || !Object.hasOwn(allowed, name)) return undefined;
    if (!allowed[name]?.includes(value)) return undefined;
    parameters.set(name, value);
  }
  const hasAll = (rule.required ?? []).every((name) => parameters.has(name));
  return hasAll ? parameters : undefined;
}

/** Several codings are a chain, which no protocol accepts. */
function codingOf(values: readonly string[], accepted: Accepted): ContentCoding {
  const { codings, codingAliases = {} } = accepted;
  const sent = values.length === 0 ? 'identity' : values.join(',').trim().toLowerCase();
  // Two names of one coding (RFC 9110 §8.4.1.3).
  const name = sent === 'x-gzip' ? 'gzip' : sent;
  const alias = sent.replaceAll(' ', '');
  const coding = Object.hasOwn(codingAliases, alias)
    ? codingAliases[alias]
    : codings.find((candidate) => candidate === name);
  if (coding !== undefined) return coding;
  const message = `cannot accept the content encoding ${JSON.stringify(sent.slice(0, 100))}`;
  throw unsupported(message, codings, accepted);
}

function unsupported(
  message: string,
  names: readonly string[],
  { formatAdvice }: Accepted,
): AppError {
  const advice = formatAdvice === undefined ? '' : `; ${formatAdvice}`;
  const text = `${message}: this route takes ${names.join(' or ')}${advice}`;
  return new AppError('unsupported_media', text);
}
