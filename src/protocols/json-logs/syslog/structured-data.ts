/** Structured data of RFC 5424 §6.3, and the token that a sender may put there. */

/** Holds the token of a receiver: `[weir token="wri_…"]`. */
const tokenElement = /^weir(?:@\d+)?$/;
/** More are not read; the event is rejected for its labels before. */
const maxParameters = 1100;

const element = /\[([^\s=\]"]{1,64})/y;
const parameter = / +([^\s=\]"]{1,64})="((?:[^"\\]|\\.)*)"/sy;

export interface StructuredData {
  /** By `id.name`, without the token. */
  readonly data: ReadonlyMap<string, string>;
  readonly token: string | undefined;
  /** Position after the data. */
  readonly end: number;
}

/** @param at position of `-` or `[`. @returns undefined if it is not structured data */
export function readStructuredData(text: string, at: number): StructuredData | undefined {
  const data = new Map<string, string>();
  let token: string | undefined;
  if (text[at] === '-') return { data, token, end: at + 1 };
  while (text[at] === '[') {
    element.lastIndex = at;
    const id = element.exec(text)?.[1];
    if (id === undefined) return undefined;
    at = element.lastIndex;
    for (parameter.lastIndex = at; ; at = parameter.lastIndex) {
      const [whole, name = '', value = ''] = parameter.exec(text) ?? [];
      if (whole === undefined) break;
      const isToken = tokenElement.test(id) && name === 'token';
      if (isToken) token = unescape(value);
      else if (data.size < maxParameters) data.set(`${id}.${name}`, unescape(value));
    }
    if (text[at] !== ']') return undefined;
    at += 1;
  }
  return { data, token, end: at };
}

function unescape(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replaceAll(/\\(["\\\]])/g, '$1');
}

const header = /^<\d{1,3}>1 \S{1,64} \S{1,255} \S{1,128} \S{1,128} \S{1,128} \[/;

/** The token in the structured data of a message. */
export function tokenOf(frame: Buffer): string | undefined {
  const text = frame.toString('latin1');
  const head = header.exec(text)?.[0];
  return head === undefined ? undefined : readStructuredData(text, head.length - 1)?.token;
}
