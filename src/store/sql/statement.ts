/** A statement ready to run: text with placeholders, and the values bound to them. Pure. */
import type { ReceiptPrecision } from './tables.ts';

type ParameterType =
  | 'String'
  | 'UInt16'
  | 'Int64'
  | 'Float64'
  | 'UInt64'
  | 'UInt128'
  | 'Array(UInt64)';
type ParameterValue = string | readonly string[] | readonly number[];

export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, ParameterValue>>;
  /** Sent beside the text; absent = none. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** An INSERT of `input('…')` in RowBinary; its data follow it. */
export interface InsertStatement extends Statement {
  /** Identifies it while it runs; absent = chosen by the server. */
  readonly queryId?: string | undefined;
}

const inputFormat = '\nFORMAT RowBinary';

/** @returns the text of the INSERT with its data in a file. @param path without a sign of a glob */
export function fromFile({ sql }: InsertStatement, path: string): string {
  const name = path.replace(/[\\']/g, '\\$&');
  const select = sql.slice(0, sql.lastIndexOf(inputFormat));
  return select.replace('FROM input(', () => `FROM file('${name}', 'RowBinary', `);
}

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
};

/** A parameter as sent, in the escaped text format of ClickHouse. */
export function parameterText(value: ParameterValue): string {
  if (typeof value === 'string') return escaped(value);
  const items = value.map((item: string | number) =>
    typeof item === 'string' ? `'${escaped(item)}'` : String(item),
  );
  return `[${items.join(',')}]`;
}

/** The parameters of a statement as the fields of a form. */
export function toForm({ params }: Pick<Statement, 'params'>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(params)) {
    form.set(`param_${name}`, parameterText(value));
  }
  return form;
}

function escaped(text: string): string {
  return text.replace(/[\t\n\r'\\]/g, (character) => escapes[character]!);
}

/** Bounds of one read, written into every statement. */
export interface ReadLimits {
  /** Wall time of one read over all its statements. */
  readonly maxSeconds: number;
  readonly maxMemoryBytes: number;
  /** Rows that a statement may scan; 0 = any number. */
  readonly maxRowsRead: number;
  /** Rows or groups that a statement may return. */
  readonly maxRowsReturned: number;
  /** Size of a result in the engine's memory; absent = the engine's own limit. */
  readonly maxBytesReturned?: number;
}

/** Builds a statement whose values are all bound. */
export function statement(write: (params: Parameters) => string): Statement {
  const params = new Parameters();
  return { sql: write(params), params: params.values };
}

/** Collects values and returns their placeholders: no value becomes part of a statement's text. */
export class Parameters {
  readonly values: Record<string, ParameterValue> = {};
  #count = 0;

  add(type: ParameterType, value: string | number | bigint): string {
    return this.#bind(type, String(value));
  }

  /** A DateTime64(9) from Unix ns. */
  time(nanos: bigint): string {
    return `fromUnixTimestamp64Nano(${this.add('Int64', nanos)}, 'UTC')`;
  }

  /** The first time of receipt, in the precision of a table, at or after these Unix ns. */
  receipt(nanos: bigint, precision: ReceiptPrecision): string {
    if (precision === 'nanos') return this.time(nanos);
    const seconds = (nanos + nanosPerSecond - 1n) / nanosPerSecond;
    const bounded = seconds < lastSecond ? seconds : lastSecond;
    return `toDateTime(${this.add('Int64', bounded)}, 'UTC')`;
  }

  /**
   * `= x`, which can use the sort order, or `IN [x, y]`. A list is few parameters, since each is
   * copied with every expression that ClickHouse folds. `values` is not empty.
   */
  anyOf(values: readonly string[]): string {
    const [only] = values;
    return values.length === 1
      ? `= ${this.add('String', only!)}`
      : `IN ${joined(values, (some) => this.#bind('Array(String)', some))}`;
  }

  /** An array of UInt128. @param ids in decimal digits, at least one */
  ids(ids: readonly string[]): string {
    return joined(ids, (some) => this.#bind('Array(UInt128)', `[${some.join(',')}]`));
  }

  integers(integers: readonly number[]): string {
    return this.#bind('Array(Int64)', integers);
  }

  #bind(type: string, value: ParameterValue): string {
    const name = `p${this.#count++}`;
    this.values[name] = value;
    return `{${name}:${type}}`;
  }
}

/**
 * In UTF-16, of up to three bytes. A server takes 128 KiB for one parameter
 * (`http_max_field_value_size`).
 */
const maxListLength = 40_000;

/** @returns an array from as many parameters as it needs */
function joined(values: readonly string[], bind: (some: readonly string[]) => string): string {
  const lists: string[] = [];
  let from = 0;
  let length = 0;
  for (const [index, value] of values.entries()) {
    // With quotes and comma.
    const added = value.length + 3;
    if (index > from && length + added > maxListLength) {
      lists.push(bind(values.slice(from, index)));
      from = index;
      length = 0;
    }
    length += added;
  }
  lists.push(bind(values.slice(from)));
  return lists.length === 1 ? lists[0]! : `arrayConcat(${lists.join(', ')})`;
}

const nanosPerSecond = 1_000_000_000n;
/** The last second of a DateTime. */
const lastSecond = 0xffff_ffffn;

/**
 * Grouping and sorting spill to disk at half of the memory, so that a large read slows down rather
 * than fails.
 */
export function limitsSql(limits: ReadLimits): string {
  const spillBytes = Math.floor(limits.maxMemoryBytes / 2);
  const { maxBytesReturned } = limits;
  const resultBytes =
    maxBytesReturned === undefined ? '' : `\n  max_result_bytes = ${maxBytesReturned},`;
  return `SETTINGS
  max_execution_time = ${limits.maxSeconds.toFixed(3)},
  max_memory_usage = ${limits.maxMemoryBytes},
  max_bytes_before_external_group_by = ${spillBytes},
  max_bytes_before_external_sort = ${spillBytes},
  max_rows_to_read = ${limits.maxRowsRead},
  max_result_rows = ${limits.maxRowsReturned},${resultBytes}
  max_threads_min_free_memory_per_thread = 0`;
}
