/**
 * Generates valid requests of metrics: expositions in both formats, remote_write, remote_read and
 * selectors.
 */
import {
  encodeReadRequest,
  encodeWriteRequest,
  type Labels,
  matcherTypes,
  type Sample,
  toBits,
  type WrittenSeries,
} from '../harness/prompb.ts';
import { encodeWriteRequestV2 } from '../harness/prompb-symbols.ts';
import type { Random } from '../harness/random.ts';
import { encodeMessage } from '../protocols/prompb-schema.ts';
import { listOf, oneIn } from './log-requests.ts';

const values = [
  '',
  'api',
  'a b',
  'é',
  '\u{1f600}',
  'with "quotes"',
  'back\\slash',
  'line\nend',
] as const;
const labelNames = ['job', 'instance', 'le1', '_x', 'path', 'zone'] as const;
const helps = ['', 'Some help.', 'With \\\\ and \\n in it.', 'é'] as const;

const numbers = [
  '0',
  '-0',
  '1',
  '+1',
  '1.5',
  '.5',
  '1e3',
  '-1E-7',
  '5e-324',
  '1.7976931348623157e308',
  '9007199254740993',
  'NaN',
  '+Inf',
  '-Inf',
] as const;

const millis = [
  0n,
  1n,
  -1n,
  1_700_000_000_000n,
  1_767_319_445_123n,
  -(2n ** 63n),
  2n ** 63n - 1n,
] as const;

function labelsOf(random: Random): Record<string, string> {
  return Object.fromEntries(
    labelNames.filter(() => oneIn(random, 3)).map((name) => [name, random.pick(values)]),
  );
}

function bracesOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** Text 0.0.4. @param records approximate number of samples */
export function classicText(random: Random, records: number): Buffer {
  const families = Math.ceil(records / 4);
  const lines = Array.from({ length: random.integer(1, families) }, (_, family) => {
    const name = random.pick([`up${family}`, `http:requests_${family}_total`, `m${family}`]);
    const type = random.pick(['counter', 'gauge', 'untyped']);
    return [
      oneIn(random, 2) ? `# HELP ${name} ${random.pick(helps)}\n` : '',
      oneIn(random, 2) ? `# TYPE ${name} ${type}\n` : '',
      oneIn(random, 5) ? '# just a comment\n\n' : '',
      ...listOf(random, 6, (index) => {
        const braces = bracesOf({ ...labelsOf(random), n: String(index) });
        const time = oneIn(random, 2) ? '' : ` ${random.pick(['0', '-5', '1700000000123'])}`;
        return `${name}${braces} ${random.pick(numbers)}${time}\n`;
      }),
    ].join('');
  });
  return Buffer.from([...lines, oneIn(random, 3) ? histogramText(random) : ''].join(''));
}

function histogramText(random: Random): string {
  const braces = (le: string) => bracesOf({ job: 'api', le });
  return [
    '# TYPE latency histogram\n',
    ...['0.1', '1', '+Inf'].map((le, index) => `latency_bucket${braces(le)} ${index + 2}\n`),
    `latency_sum{job="api"} ${random.pick(['0', '12.5'])}\nlatency_count{job="api"} 4\n`,
  ].join('');
}

/** OpenMetrics 1.0. @param records approximate number of samples */
export function openMetrics(random: Random, records: number): Buffer {
  const families = Math.ceil(records / 4);
  const lines = Array.from({ length: random.integer(1, families) }, (_, family) => {
    const isCounter = oneIn(random, 2);
    const unit = oneIn(random, 4) ? 'seconds' : '';
    const name = `m${family}${unit && `_${unit}`}`;
    return [
      `# TYPE ${name} ${isCounter ? 'counter' : 'gauge'}\n`,
      unit && `# UNIT ${name} ${unit}\n`,
      oneIn(random, 2) ? `# HELP ${name} ${random.pick(helps)}\n` : '',
      ...listOf(random, 6, (index) => {
        const braces = bracesOf({ ...labelsOf(random), n: String(index) });
        const time = oneIn(random, 2) ? '' : ` ${random.pick(['0', '1700000000.123', '1.7e9'])}`;
        if (!isCounter) return `${name}${braces} ${random.pick(numbers)}${time}\n`;
        const exemplar = oneIn(random, 2) ? '' : ` # {trace_id="${index}"} 1.5 1700000000.5`;
        return `${name}_total${braces} ${random.integer(0, 99)}${time}${exemplar}\n`;
      }),
    ].join('');
  });
  return Buffer.from(`${lines.join('')}# EOF\n`);
}

/** `prometheus.WriteRequest`. @param records approximate number of samples */
export function writeRequest(random: Random, records: number): Buffer {
  const metadata = listOf(random, 2, (n) => ({
    type: random.integer(0, 7),
    name: `m${n}`,
    help: random.pick(helps),
    unit: '',
  }));
  return encodeWriteRequest(writtenSeries(random, records), metadata);
}

/** `io.prometheus.write.v2.Request`. @param records approximate number of samples */
export function writeRequestV2(random: Random, records: number): Buffer {
  const series = writtenSeries(random, records);
  return encodeWriteRequestV2(
    series.map((one) =>
      oneIn(random, 2)
        ? one
        : { ...one, metadata: { type: random.integer(0, 7), help: random.pick(helps), unit: '' } },
    ),
  );
}

export function writtenSeries(random: Random, records: number): WrittenSeries[] {
  const count = random.integer(1, Math.ceil(records / 2));
  return Array.from({ length: count }, (_, n): WrittenSeries => {
    const labels = { __name__: `m${n % 7}`, ...labelsOf(random), n: String(n) };
    return {
      labels,
      samples: listOf(random, 4, () => sample(random)),
      exemplars: oneIn(random, 4) ? [{ labels: { trace_id: 'ab' }, ...sample(random) }] : [],
      histograms: oneIn(random, 4) ? [histogram(random)] : [],
    };
  });
}

function sample(random: Random): Sample {
  const bits = random.pick([
    toBits(0),
    toBits(-0),
    toBits(1.5),
    toBits(Infinity),
    0x7ff0_0000_0000_0002n,
    0x7ff8_0000_0000_0001n,
    BigInt(random.integer(0, 2 ** 31)) * 0x1_0000_0001n,
  ]);
  return { timeMs: random.pick(millis), bits };
}

function histogram(random: Random): Buffer {
  const buckets = random.integer(1, 5);
  const deltas = Array.from({ length: buckets }, () => 1);
  const observations = (buckets * (buckets + 1)) / 2;
  return encodeMessage('Histogram', {
    countInt: observations + 2,
    sum: random.pick([0, 12.5]),
    schema: random.integer(-4, 8),
    zeroThreshold: 1e-128,
    zeroCountInt: 2,
    positiveSpans: [{ offset: random.integer(-3, 3), length: buckets }],
    positiveDeltas: deltas,
    timestamp: String(random.pick(millis)),
  });
}

/** `prometheus.ReadRequest` */
export function readRequest(random: Random): Buffer {
  const types = Object.keys(matcherTypes) as [keyof typeof matcherTypes];
  return encodeReadRequest(
    listOf(random, 4, () => ({
      matchers: listOf(random, 4, () => ({
        name: random.pick(['__name__', ...labelNames]),
        type: random.pick(types),
        value: random.pick(values),
      })),
      fromMs: random.pick([0, -1, 1_700_000_000_000]),
      untilMs: random.pick([0, 1_800_000_000_000]),
    })),
  );
}

/** `up{job="api"}` */
export function selector(random: Random): Buffer {
  const matchers = listOf(random, 4, () => {
    const name = random.pick([...labelNames, '"dotted.name"']);
    const quote = random.pick(['"', "'"]);
    const value = escaped(random.pick(values)).replaceAll("'", '');
    const text = quote === '"' ? value : value.replaceAll('\\"', '');
    return `${name}${random.pick(['=', '!=', '=~', '!~'])}${quote}${text}${quote}`;
  });
  const space = random.pick(['', ' ', '\n # comment\n']);
  return Buffer.from(`up${space}{${matchers.join(`,${space}`)}${space}}`);
}

/** Lines of InfluxDB's protocol. */
export function influxLines(random: Random, records: number): Buffer {
  const lines = Array.from({ length: random.integer(1, records) }, (_, n) => {
    const value = random.pick(['1.5', '3i', 't', '"a b"', '-1e3']);
    return `m${n % 3},host=a\\ b,n=${n} v=${value},w=1 179534160012345678${n % 10}`;
  });
  return Buffer.from(lines.join('\n'));
}
