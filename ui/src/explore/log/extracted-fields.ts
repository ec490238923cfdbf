/**
 * Fields that are read from the message: `json.<path>` is a value of JSON, and `var.<name>
 * <template>` a variable of a pattern. The service does not know them. Pure.
 */
import { jsonEntry, jsonScalar } from '../../parts/text/json-text.ts';
import type { Query } from '../../../../src/query/parse.ts';
import { printQuery } from '../../../../src/query/print.ts';

const jsonPrefix = 'json.';
const variablePrefix = 'var.';

interface Extracted {
  readonly title: string;
  readonly read: (message: string) => string;
}

/** @returns undefined for any other name */
export function extractedField(name: string): Extracted | undefined {
  if (name.startsWith(jsonPrefix) && name.length > jsonPrefix.length) {
    const path = name.slice(jsonPrefix.length);
    return { title: path, read: (message) => readJson(message, path) };
  }
  const [, variable, template] = /^var\.(\S+) ([^]+)$/.exec(name) ?? [];
  if (variable === undefined || template === undefined) return undefined;
  return { title: variable, read: (message) => readVariable(message, template, variable) };
}

export function jsonColumn(path: string): string {
  return jsonPrefix + path;
}

/** @param template with variables as `<name>` */
export function variableColumn(name: string, template: string): string {
  return `${variablePrefix}${name} ${template}`;
}

function readJson(message: string, path: string): string {
  const entry = jsonEntry(message, path);
  return entry === undefined ? '' : jsonScalar(message.slice(entry.valueAt, entry.valueEnd));
}

/** Longer values are not offered as a condition. */
const maxConditionLength = 300;

/**
 * Finds messages with this key and value, written the same way.
 * @returns undefined for objects, arrays and long values
 */
export function jsonCondition(message: string, path: string): string | undefined {
  const entry = jsonEntry(message, path);
  if (entry === undefined || entry.valueEnd - entry.keyAt > maxConditionLength) return undefined;
  const pair = message.slice(entry.keyAt, entry.valueEnd);
  const first = message[entry.valueAt]!;
  if (first === '{' || first === '[') return undefined;
  const phrase: Query = { kind: 'text', pattern: [pair] };
  if (first === '"') return printQuery(phrase);
  // A phrase alone also finds numbers that begin with these digits.
  const regex = String.raw`${pair.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}[\s,}\]]`;
  const exact: Query = { kind: 'field', key: 'message', test: { op: 'regex', regex } };
  return printQuery({ kind: 'and', items: [phrase, exact] });
}

/** The constant texts are looked for from left to right, which takes linear time. */
function readVariable(message: string, template: string, variable: string): string {
  const [first = '', ...parts] = template.split(/<(\S+?)>/);
  if (!message.startsWith(first)) return '';
  let from = first.length;
  for (let at = 0; at < parts.length; at += 2) {
    const constant = parts[at + 1]!;
    const isLast = at + 2 === parts.length;
    const cut = isLast ? constant.replace(/…$/, '') : constant;
    const end = cut === '' && isLast ? message.length : message.indexOf(cut, from);
    if (end < 0) return '';
    if (parts[at] === variable) return message.slice(from, end);
    from = end + cut.length;
  }
  return '';
}
