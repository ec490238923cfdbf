/**
 * A store of metrics with given results, cut to the plan as its contract says, which records plans.
 */

import type { MetricsReadParts } from '../../src/metrics/routes.ts';
import { toSeriesColumns } from '../../src/store/series-samples.ts';
import type {
  Exemplar,
  Label,
  MetadataPlan,
  MetricMetadata,
  SamplesPlan,
  SeriesPlan,
  SeriesSamples,
} from '../../src/model/metric-plan.ts';

export interface FakeMetricStore {
  readonly parts: MetricsReadParts['store'];
  readonly plans: (SeriesPlan | SamplesPlan | MetadataPlan)[];
  /** Of labelValues. */
  readonly askedNames: string[];
  names: string[];
  series: (readonly Label[])[];
  samples: SeriesSamples[];
  metadata: MetricMetadata[];
  exemplars: Exemplar[];
  /** Thrown by the next reads. */
  fault: Error | undefined;
  /** Resets the records. */
  reset(): void;
}

export function createFakeMetricStore(): FakeMetricStore {
  const take = <Plan extends FakeMetricStore['plans'][number]>(plan: Plan) => {
    store.plans.push(plan);
    if (store.fault !== undefined) throw store.fault;
    return plan;
  };
  const empty = () => ({
    names: [],
    series: [],
    samples: [],
    metadata: [],
    exemplars: [],
    fault: undefined,
  });
  const store: FakeMetricStore = {
    ...empty(),
    plans: [],
    askedNames: [],
    reset() {
      Object.assign(store, empty());
      store.plans.length = 0;
      store.askedNames.length = 0;
    },
    parts: {
      labelNames: async (plan) => store.names.slice(0, take(plan).limit),
      labelValues: async (plan, name) => {
        store.askedNames.push(name);
        return store.names.slice(0, take(plan).limit);
      },
      series: async (plan) => store.series.slice(0, take(plan).limit),
      metricMetadata: async (plan) => store.metadata.slice(0, take(plan).limit),
      samples: async (plan) => {
        take(plan);
        return store.samples;
      },
      sampleColumns: async (plan) => {
        take(plan);
        return store.samples.map(toSeriesColumns);
      },
      exemplars: async (plan) => {
        take(plan);
        return store.exemplars;
      },
    },
  };
  return store;
}
