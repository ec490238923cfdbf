/**
 * Decodes the pushes with the highest memory per byte and prints the peak growth. A separate
 * process, so that nothing else counts.
 */
import { AppError } from '../../src/model/errors.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { createPromTextDecoder, type TextFormat } from '../../src/protocols/prom-text/prom-text.ts';

const maxEvents = 200_000;
const bodyBytes = 8 * 1024 * 1024;
const limits = { maxEvents, maxDepth: 1, maxRejections: 1 };
const decode = createPromTextDecoder({
  maxLabels: 64,
  maxLabelNameLength: 1024,
  maxLabelValueLength: 8192,
});

const eachLine = (count: number, line: (index: number) => string) => () =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const labels = Array.from({ length: 60 }, (_, index) => `l${index}="x"`).join(',');

const bombs: [format: TextFormat, body: () => string][] = [
  ['classic', eachLine(maxEvents, (i) => `a${i} 1\n`)],
  ['openmetrics', eachLine(maxEvents, (i) => `a${i} 1\n`)],
  ['classic', eachLine(maxEvents, (i) => `a 1 ${i}\n`)],
  ['classic', eachLine(maxEvents, (i) => `# HELP a${i} x\n`)],
  ['classic', eachLine(bodyBytes / 400, (i) => `a${i}{${labels}} 1\n`)],
  ['openmetrics', () => `# TYPE a counter\na_total 1 # {${'b="",'.repeat(bodyBytes / 5)}} 1\n`],
  ['classic', () => `a{b="${'\\\\'.repeat(bodyBytes / 2)}"} 1\n`],
  ['classic', () => `# HELP a ${'\\n'.repeat(bodyBytes / 2)}\n`],
  ['classic', () => '\n'.repeat(bodyBytes)],
  ['classic', () => `a ${'1'.repeat(bodyBytes)}\n`],
];

const before = process.resourceUsage().maxRSS;
for (const [format, toBody] of bombs) {
  const context = { limits, nowMs: 0, series: blankSeriesView };
  try {
    await decode(Buffer.from(toBody()), format, context);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
process.stdout.write(String((process.resourceUsage().maxRSS - before) * 1024));
