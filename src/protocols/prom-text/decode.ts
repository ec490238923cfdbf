/**
 * Prometheus text and OpenMetrics pushes to a batch of `metrics/1`. Pure: bytes in, batch out; a
 * push with one fault is refused as a whole.
 */
import { isUtf8 } from 'node:buffer';
import type { Batch } from '../../model/batch.ts';
import { MetricWriter } from '../../codec/metric-writer.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { ClassicFamilies } from './classic-families.ts';
import { Exposition } from './exposition.ts';
import { refuseAt } from './fail-at.ts';
import { classicText, type Grammar, openMetrics } from './grammar.ts';
import { OpenMetricsFamilies } from './openmetrics-families.ts';
import { SampleSet } from './sample-set.ts';
import { SeriesCache } from './series-cache.ts';

/** Decoding lets other requests have a turn after each slice of this many bytes, or sooner. */
const sliceBytes = 512 * 1024;

/** Of the workspaces that many pushes at once have made, so many are kept. */
const maxIdle = 4;

export type TextFormat = 'classic' | 'openmetrics';

/** Decodes one body after the other, or several in turns; a server needs one. */
export type PromTextDecoder = (
  body: Buffer,
  format: TextFormat,
  context: DecodeContext,
) => Batch | Promise<Batch>;

/**
 * The decoder keeps its working memory from body to body, and remembers the series it has seen. A
 * body must stay unchanged until its batch is there.
 *
 * The decoder throws AppError `malformed` with line and column, `too_large` for more samples or
 * families than `maxEvents`, and `quota_exceeded` for a series beyond what the account may have.
 */
export function createPromTextDecoder(labels: LabelLimits): PromTextDecoder {
  const caches = { classic: new SeriesCache(), openmetrics: new SeriesCache() };
  const idle: Workspace[] = [];

  function release(workspace: Workspace): void {
    workspace.writer.clear();
    workspace.samples.clear();
    if (idle.length < maxIdle) idle.push(workspace);
  }

  async function finishInTurns(exposition: Exposition, workspace: Workspace): Promise<Batch> {
    try {
      do await new Promise<void>((resolve) => setImmediate(resolve));
      while (!exposition.run(sliceBytes));
      return exposition.finish();
    } finally {
      release(workspace);
    }
  }

  return (body, format, context) => {
    checkUtf8(body);
    const workspace = idle.pop() ?? { writer: new MetricWriter(), samples: new SampleSet() };
    const parts = { ...workspace, ...toRules(format), labels, series: caches[format] };
    const exposition = new Exposition(body, parts, context);
    let isDone = true;
    try {
      isDone = exposition.run(sliceBytes);
      return isDone ? exposition.finish() : finishInTurns(exposition, workspace);
    } finally {
      if (isDone) release(workspace);
    }
  };
}

/** What is empty between two bodies. */
interface Workspace {
  readonly writer: MetricWriter;
  readonly samples: SampleSet;
}

function toRules(format: TextFormat): {
  grammar: Grammar;
  rules: ClassicFamilies | OpenMetricsFamilies;
} {
  if (format === 'classic') return { grammar: classicText, rules: new ClassicFamilies() };
  return { grammar: openMetrics, rules: new OpenMetricsFamilies() };
}

/** What is no UTF-8 becomes U+FFFD when it is read, and no longer the same when it is written. */
function checkUtf8(body: Buffer): void {
  if (isUtf8(body)) return;
  const read = Buffer.from(body.toString('utf8'));
  let at = 0;
  while (read[at] === body[at]) at += 1;
  refuseAt(body, at, 'the text is not valid UTF-8');
}
