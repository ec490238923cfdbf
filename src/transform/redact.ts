/**
 * Replaces card numbers, e-mail addresses and secrets in text. The expressions are written so that
 * their time is linear in the length of the text.
 */
import { RE2JS } from 're2js';
import type { RedactedKind } from '../model/transform.ts';

/** @param label name of the label that holds the text; undefined = the message */
export type Redaction = (text: string, label: string | undefined) => string;

/** Digits with a space or hyphen between them. */
const digits = /(?<!\d)\d(?:[ -]?\d){12,}/g;
const zero = 0x30;
const minCardDigits = 13;
const maxCardDigits = 19;

const emailDomain = /@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}/g;
const emailName = /[\w.%+-]/;
const maxEmailName = 64;

/** Secrets that are recognised by their form. */
const secret = new RegExp(
  [
    // JSON web tokens.
    String.raw`(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*`,
    // AWS, GitHub, GitLab, Slack, Stripe, Google, Weir.
    String.raw`(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])`,
    String.raw`(?<![\w-])(?:gh[pousr]_|github_pat_)\w{20,255}`,
    String.raw`(?<![\w-])(?:glpat-|xox[abeprs]-|[sr]k_(?:live|test)_|AIza|wr[ia]_)[\w-]{16,255}`,
    String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----` +
      String.raw`(?:[^]*?-----END [A-Z ]{0,40}PRIVATE KEY-----|[^]*)`,
  ].join('|'),
  'g',
);
const bearer = /\b(Bearer|Basic)(\s{1,4})[\w.~+/=-]{8,}/gi;
/** A value after a name such as `password=` or `"api_key": "`. */
const named = new RegExp(
  String.raw`((?:passw(?:or)?d|secret|api[_-]?key|access[_-]?key|token|credential)` +
    String.raw`\w{0,20}["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"',;&]{4,})`,
  'gi',
);
const secretLabel = /(?:passw(?:or)?d|secret|api[._-]?key|access[._-]?key|token|authorization)$/i;

/** Longer text is not searched: what follows is replaced as a whole. */
const maxCustomLength = 64 * 1024;
/** The stack of an expression would be exceeded by a number or a token of some megabytes. */
const maxLength = 2 * 1024 * 1024;

export function createRedaction(kind: RedactedKind, replacement: string): Redaction {
  const redact = createSearch(kind, replacement);
  const limit = { maxLength, replacement };
  return (text, label) => withinLength(text, limit, (searched) => redact(searched, label));
}

function createSearch(kind: RedactedKind, replacement: string): Redaction {
  if (kind === 'card') {
    return (text) => text.replace(digits, (run) => redactCards(run, replacement));
  }
  if (kind === 'email') {
    return (text) => redactEmails(text, replacement);
  }
  return (text, label) => {
    if (label !== undefined && secretLabel.test(label)) return text === '' ? text : replacement;
    return text
      .replace(secret, () => replacement)
      .replace(bearer, (_all, scheme: string, space: string) => scheme + space + replacement)
      .replace(named, (_all, name: string, value: string) =>
        value.startsWith(replacement) ? name + value : name + replacement,
      );
  };
}

export function createCustomRedaction(pattern: string, replacement: string): Redaction {
  const compiled = RE2JS.compile(pattern);
  const quoted = RE2JS.quoteReplacement(replacement);
  return (text) =>
    withinLength(text, { maxLength: maxCustomLength, replacement }, (searched) =>
      compiled.matcher(searched).replaceAll(quoted),
    );
}

function withinLength(
  text: string,
  limit: { readonly maxLength: number; readonly replacement: string },
  redact: (text: string) => string,
): string {
  if (text.length <= limit.maxLength) return redact(text);
  return redact(text.slice(0, limit.maxLength)) + limit.replacement;
}

/** From each domain backwards: a name may begin at every character of a long text. */
function redactEmails(text: string, replacement: string): string {
  let result = '';
  let at = 0;
  for (const { 0: domain, index } of text.matchAll(emailDomain)) {
    const earliest = Math.max(at, index - maxEmailName);
    let start = index;
    while (start > earliest && emailName.test(text[start - 1]!)) start -= 1;
    if (start === index) continue;
    result += text.slice(at, start) + replacement;
    at = index + domain.length;
  }
  return result + text.slice(at);
}

/** @param run digits, possibly grouped; long runs hold a card number at any position */
function redactCards(run: string, replacement: string): string {
  let result = '';
  let at = 0;
  for (let start = 0; start < run.length; ) {
    const end = cardEnd(run, start);
    if (end !== undefined) {
      result += run.slice(at, start) + replacement;
      at = end;
    }
    start = end ?? nextGroup(run, start);
  }
  return result + run.slice(at);
}

/** @returns where the longest card number that starts here ends: ISO/IEC 7812-1, annex B */
function cardEnd(run: string, start: number): number | undefined {
  if (run[start]! < '2' || run[start]! > '6') return undefined;
  let end: number | undefined;
  let count = 0;
  /** Every second digit is doubled, from the right: for an even and an odd number of digits. */
  let sumOfEven = 0;
  let sumOfOdd = 0;
  for (let at = start; at < run.length && count < maxCardDigits; at += 1) {
    const digit = run.charCodeAt(at) - zero;
    if (digit < 0) continue;
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit;
    const isDoubledInEven = count % 2 === 0;
    sumOfEven += isDoubledInEven ? doubled : digit;
    sumOfOdd += isDoubledInEven ? digit : doubled;
    count += 1;
    const sum = count % 2 === 0 ? sumOfEven : sumOfOdd;
    if (count >= minCardDigits && sum % 10 === 0) end = at + 1;
  }
  return end;
}

/** Cards begin a group of digits: in the middle of one, a number of 40 digits has too many. */
function nextGroup(run: string, start: number): number {
  for (let at = start + 1; at < run.length; at += 1) {
    if (run[at]! < '0') return at + 1;
  }
  return run.length;
}
