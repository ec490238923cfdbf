/** `changes` and `resets`: each sample compared with the one before. */
import { detectsReset } from '../histogram/histogram-resets.ts';
import { equals, type Histogram } from '../histogram/histogram.ts';
import type { RangeContext, RangeFunction } from './range-context.ts';
import type { RangeWindow } from '../selection.ts';

type Sample = number | Histogram;

export const changesFunction = counting((before, sample) => {
  if (typeof before === 'number' && typeof sample === 'number') {
    return before !== sample && !(Number.isNaN(before) && Number.isNaN(sample));
  }
  return typeof before === 'number' || typeof sample === 'number' || !equals(sample, before);
});

export const resetsFunction = counting((before, sample) => {
  if (typeof before === 'number' && typeof sample === 'number') return sample < before;
  return typeof before === 'number' || typeof sample === 'number' || detectsReset(sample, before);
});

function counting(isCounted: (before: Sample, sample: Sample) => boolean): RangeFunction {
  return (window, _args, context) => {
    const samples = samplesOf(window, context);
    if (samples === undefined) return undefined;
    let count = 0;
    for (let i = 1; i < samples.length; i++) {
      if (isCounted(samples[i - 1]!, samples[i]!)) count += 1;
    }
    return count;
  };
}

/** By time. `anchored` begins with the last sample at or before the start, if one comes later. */
function samplesOf(window: RangeWindow, { extension }: RangeContext): Sample[] | undefined {
  const { times, values, histogramTimes, histograms, to, histogramTo, startMs } = window;
  let { from: i, histogramFrom: j } = window;
  const samples: Sample[] = [];
  let anchor: Sample | undefined;
  while (i < to || j < histogramTo) {
    const isFloat = j >= histogramTo || (i < to && times[i]! < histogramTimes[j]!);
    const time = isFloat ? times[i]! : histogramTimes[j]!;
    const sample = isFloat ? values[i++]! : histograms[j++]!;
    if (extension === 'anchored' && time <= startMs) anchor = sample;
    else samples.push(sample);
  }
  if (anchor === undefined) return samples;
  return samples.length === 0 ? undefined : [anchor, ...samples];
}
