/**
 * Writes OTLP logs requests as JSON in every valid form: any order of keys, any case of hex digits,
 * numbers as text, unknown keys, nulls, escapes, spaces. A pure function of a seed.
 */
import type {
  AnyValue,
  KeyValue,
  LogRecord,
  LogsRequest,
  ResourceLogs,
  ScopeLogs,
} from './otlp-proto.ts';

type Member = readonly [key: string, json: string | undefined];
type Written = [key: string, json: string];

/** @param seed any integer. */
export function writeLogsJson(request: LogsRequest, seed: number): string {
  return new JsonForms(seed).request(request);
}

const junk = [
  '0',
  '"text"',
  'true',
  'null',
  '[]',
  '{}',
  '[[1,{"key":"a"}],"\\u0000"]',
  '{"logRecords":[{"body":{}}],"a":-1.5e-3}',
];
/** Repeated lists are joined. */
const emptyLists = ['[]', 'null'];
const severityNames = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** What may precede a repeated key. The text of a time would be kept as an attribute. */
function replaced([key, json]: Written): readonly string[] {
  if (json.startsWith('[')) return emptyLists;
  return key.endsWith('UnixNano') ? junk.filter((text) => !text.startsWith('"')) : junk;
}

class JsonForms {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  request({ resourceLogs }: LogsRequest): string {
    return this.#object([['resourceLogs', this.#list(resourceLogs, (it) => this.#resource(it))]]);
  }

  #resource({ resource, scopeLogs, schemaUrl }: ResourceLogs): string {
    return this.#object([
      ['resource', resource && this.#object(this.#owner(resource))],
      ['scopeLogs', this.#list(scopeLogs, (it) => this.#scope(it))],
      ['schemaUrl', this.#text(schemaUrl)],
    ]);
  }

  #scope({ scope, logRecords, schemaUrl }: ScopeLogs): string {
    const members: Member[] | undefined = scope && [
      ...this.#owner(scope),
      ['name', this.#text(scope.name)],
      ['version', this.#text(scope.version)],
    ];
    return this.#object([
      ['scope', members && this.#object(members)],
      ['logRecords', this.#list(logRecords, (it) => this.#record(it))],
      ['schemaUrl', this.#text(schemaUrl)],
    ]);
  }

  #owner(owner: Pick<LogRecord, 'attributes' | 'droppedAttributesCount'>): Member[] {
    return [
      ['attributes', this.#list(owner.attributes, (it) => this.#entry(it))],
      ['droppedAttributesCount', this.#integer(owner.droppedAttributesCount)],
    ];
  }

  #record(record: LogRecord): string {
    return this.#object([
      ...this.#owner(record),
      ['timeUnixNano', this.#integer(record.timeUnixNano)],
      ['observedTimeUnixNano', this.#integer(record.observedTimeUnixNano)],
      ['severityNumber', this.#severity(record.severityNumber)],
      ['severityText', this.#text(record.severityText)],
      ['body', record.body && this.#value(record.body)],
      ['flags', this.#integer(record.flags)],
      ['traceId', this.#id(record.traceId)],
      ['spanId', this.#id(record.spanId)],
      ['eventName', this.#text(record.eventName)],
    ]);
  }

  #entry({ key, value }: KeyValue): string {
    return this.#object([
      ['key', this.#text(key)],
      ['value', value && this.#value(value)],
    ]);
  }

  #value(value: AnyValue): string {
    const { arrayValue, kvlistValue } = value;
    return this.#object([
      ['stringValue', this.#text(value.stringValue)],
      ['boolValue', value.boolValue === undefined ? undefined : String(value.boolValue)],
      ['intValue', this.#integer(value.intValue)],
      ['doubleValue', this.#double(value.doubleValue)],
      ['bytesValue', this.#bytes(value.bytesValue)],
      [
        'arrayValue',
        arrayValue &&
          this.#object([['values', this.#list(arrayValue.values, (it) => this.#value(it))]]),
      ],
      [
        'kvlistValue',
        kvlistValue &&
          this.#object([['values', this.#list(kvlistValue.values, (it) => this.#entry(it))]]),
      ],
    ]);
  }

  #object(members: readonly Member[]): string {
    const written = members.flatMap(([key, json]): Written[] => {
      if (json === undefined) return this.#oneIn(4) ? [[key, 'null']] : [];
      return [[key, json]];
    });
    if (this.#oneIn(6)) written.push([`x${this.#below(9)}`, this.#pick(junk)]);
    if (this.#oneIn(3)) this.#shuffle(written);
    const [repeated] = written;
    // The last of repeated values counts; null counts as absent.
    if (repeated !== undefined && repeated[1] !== 'null' && this.#oneIn(12)) {
      written.unshift([repeated[0], this.#pick(replaced(repeated))]);
    }
    const texts = written.map(
      ([key, json]) => `${this.#quote(key)}${this.#space()}:${this.#space()}${json}`,
    );
    return `{${this.#space()}${texts.join(`${this.#space()},${this.#space()}`)}}`;
  }

  #list<T>(items: readonly T[] | undefined, write: (item: T) => string): string | undefined {
    if (items === undefined) return undefined;
    return `[${this.#space()}${items.map(write).join(`,${this.#space()}`)}${this.#space()}]`;
  }

  #text(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.#quote(text);
  }

  /** Any character may be escaped, a slash in two ways. */
  #quote(text: string): string {
    const written = JSON.stringify(text);
    if (!this.#oneIn(5)) return written;
    const escaped = Array.from({ length: text.length }, (_, i) =>
      this.#oneIn(2)
        ? `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`
        : JSON.stringify(text[i]).slice(1, -1),
    );
    // Both halves of a surrogate pair are written alike.
    return /[\ud800-\udfff]/.test(text) ? written : `"${escaped.join('').replaceAll('/', '\\/')}"`;
  }

  #integer(value: string | number | undefined): string | undefined {
    if (value === undefined) return undefined;
    const digits = String(value);
    const zeros = /^-?[1-9]\d*?(0+)$/.exec(digits)?.[1]?.length ?? 0;
    switch (this.#below(6)) {
      case 0:
        return digits;
      case 1:
        return `${digits}.0`;
      case 2:
        return zeros === 0 ? `${digits}e0` : `"${digits.slice(0, -zeros)}E+${zeros}"`;
      case 3: {
        const bits = BigInt.asUintN(64, BigInt(digits));
        const low = Number(BigInt.asIntN(32, bits));
        const high = Number(BigInt.asIntN(32, bits >> 32n));
        return this.#object([
          ['low', String(low)],
          ['high', String(high)],
          ['unsigned', 'true'],
        ]);
      }
      default:
        return this.#quote(digits);
    }
  }

  #severity(value: number | undefined): string | undefined {
    if (value === undefined || value < 0 || value > 24 || this.#oneIn(2)) {
      return value === undefined ? undefined : this.#pick([`${value}`, `"${value}"`, `${value}.0`]);
    }
    if (value === 0) return '"SEVERITY_NUMBER_UNSPECIFIED"';
    const step = ((value - 1) % 4) + 1;
    return `"SEVERITY_NUMBER_${severityNames[(value - 1) >> 2]!}${step === 1 ? '' : step}"`;
  }

  #double(value: number | undefined): string | undefined {
    if (value === undefined) return undefined;
    if (!Number.isFinite(value)) return `"${value}"`;
    const text = Object.is(value, -0) ? '-0' : String(value);
    return this.#pick([text, `"${text}"`, value.toExponential(), value.toPrecision(17)]);
  }

  #bytes(value: Uint8Array | undefined): string | undefined {
    if (value === undefined) return undefined;
    const bytes = Buffer.from(value);
    const unpadded = bytes.toString('base64').replaceAll('=', '');
    return this.#quote(
      this.#pick([bytes.toString('base64'), bytes.toString('base64url'), unpadded]),
    );
  }

  #id(value: Uint8Array | undefined): string | undefined {
    if (value === undefined) return undefined;
    const bytes = Buffer.from(value);
    const hex = bytes.toString('hex');
    if (this.#oneIn(4) && [8, 16].includes(bytes.length)) return this.#bytes(value);
    const mixed = Array.from(hex, (digit) => (this.#oneIn(2) ? digit.toUpperCase() : digit));
    return this.#quote(this.#pick([hex, hex.toUpperCase(), mixed.join('')]));
  }

  #space(): string {
    return this.#oneIn(8) ? this.#pick([' ', '\n', '\t', '\r\n  ']) : '';
  }

  #shuffle(items: unknown[]): void {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = this.#below(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)]!;
  }

  #oneIn(chances: number): boolean {
    return this.#below(chances) === 0;
  }

  /** mulberry32. */
  #below(bound: number): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % bound;
  }
}
