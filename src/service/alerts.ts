/** Opens the evaluation of rules. */
import { randomUUID } from 'node:crypto';
import { openEvaluator } from '../alerts/evaluator.ts';
import type { RecordSamples } from '../alerts/group-runs.ts';
import { createCountLate } from '../alerts/late-rows.ts';
import { createNotify } from '../alerts/notify.ts';
import { createPost } from '../alerts/post.ts';
import { createPreview } from '../alerts/preview.ts';
import { bytesField, ProtobufWriter, varintField } from '../codec/protobuf-writer.ts';
import type { Config } from '../config/schema.ts';
import type { CachedGrants } from '../directory/grants.ts';
import type { Directory, NotifierStore, RuleStore } from '../directory/port.ts';
import { createSeriesLedger } from '../ingest/series-ledger.ts';
import { createRuleQuery } from '../metrics/rule-query.ts';
import { AppError } from '../model/errors.ts';
import type { PreviewGroup, RuleSample } from '../model/rules.ts';
import { createRemoteWrite } from '../protocols/remote-write/remote-write.ts';
import type { Queue } from '../queue/port.ts';
import type { Store } from '../store/port.ts';
import { createLogsRuleQuery, createRuleSamples } from '../stream/stats/rule-query.ts';
import { createAlertEvents } from '../telemetry/alert-events.ts';
import type { Opening } from './opening.ts';

export interface AlertParts {
  readonly directory: RuleStore & NotifierStore & Pick<Directory, 'getStream'>;
  readonly grants: Pick<CachedGrants, 'streams'>;
  readonly queue: Queue;
  readonly store: Store;
}

export function openAlerts(
  { config, instruments, parts }: Opening,
  { directory, grants, queue, store }: AlertParts,
): void {
  const now = Date.now;
  const reads = { store, grants, now };
  const { queryMetrics, queryLogs } = createRuleQueries(config, reads);
  const events = createAlertEvents(instruments);
  const { publicUrl, port } = config.stream;
  const streamUrl = publicUrl || `https://localhost:${port}`;
  parts.own(
    openEvaluator({
      rules: directory,
      query: (owner, query, atMs) =>
        query.type === 'logs'
          ? queryLogs.at(owner, query, atMs)
          : queryMetrics.at(owner, query.expr, atMs),
      record: createRecorder(config, queue),
      countLate: createCountLate(reads),
      notify: createNotify({
        notifiers: directory,
        post: createPost(config.alerts),
        sampleLogs: createRuleSamples(reads),
        events,
        now,
        externalUrl: () => streamUrl,
      }),
      events,
      now,
      // An embedded directory has one process, which need not wait for the lease of its last run.
      holder: config.directory.url === '' ? 'embedded' : randomUUID(),
    }),
  );
}

function createRuleQueries(
  config: Config,
  reads: Pick<AlertParts, 'grants' | 'store'> & { readonly now: () => number },
) {
  const { queryTimeoutSeconds } = config.store;
  return {
    queryMetrics: createRuleQuery(reads, { ...config.metrics, queryTimeoutSeconds }),
    queryLogs: createLogsRuleQuery(reads),
  };
}

export function createRulePreview(
  config: Config,
  reads: Pick<AlertParts, 'grants' | 'store'> & { readonly now: () => number },
): PreviewGroup {
  const { queryMetrics, queryLogs } = createRuleQueries(config, reads);
  return createPreview({ queryMetrics: queryMetrics.over, queryLogs });
}

/** Owner of the rows that rules write, in place of a receiver. */
const receiverId = 'rules';

/** Appends to the queue what a sender would send by remote write. */
function createRecorder(config: Config, queue: Queue): RecordSamples {
  const [protocol] = createRemoteWrite(config);
  const ledger = createSeriesLedger(config.metrics);
  queue.whenSeriesForgotten(() => ledger.forget());
  const mediaType = 'application/x-protobuf';
  const format = { mediaType, parameters: new Map(), coding: 'snappy' } as const;
  return async ({ accountId, streamId }, { atMs, samples, ended }) => {
    const nowMs = Date.now();
    const owner = { accountId, streamId, receiverId };
    const series = ledger.claim(owner, nowMs);
    const message = Buffer.concat([
      ...samples.map(({ labels, value }) => timeSeries(labels, toBits(value), atMs)),
      ...ended.map((labels) => timeSeries(labels, staleMarker, atMs)),
    ]);
    const { limits } = protocol;
    const batch = await protocol.decode(message, format, { limits, nowMs, series });
    if (batch.rejectedCount > 0) {
      const [reason = ''] = batch.rejectedByReason.keys();
      throw new AppError('malformed', `cannot record ${batch.rejectedCount} samples: ${reason}`);
    }
    if (batch.rows === 0) return;
    if (!series.isCurrent(Date.now())) {
      throw new AppError('unavailable', 'cannot record now: the series are being forgotten');
    }
    await queue.append(batch, owner);
    series.confirm();
  };
}

/** https://github.com/prometheus/prometheus/blob/main/model/value/value.go */
const staleMarker = 0x7ff0_0000_0000_0002n;

function toBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** Field 1 of `prometheus.WriteRequest`: labels sorted by name, and one sample. */
function timeSeries(labels: RuleSample['labels'], bits: bigint, timeMs: number): Buffer {
  const names = Object.keys(labels).sort();
  const pairs = names.map((name) =>
    bytesField(1, Buffer.concat([bytesField(1, name), bytesField(2, labels[name]!)])),
  );
  const low = Number(bits & 0xffff_ffffn);
  const value = new ProtobufWriter(9);
  value.fixed64(1, low, Number(bits >> 32n));
  const sample = Buffer.concat([value.finish(), varintField(2, timeMs)]);
  return bytesField(1, Buffer.concat([...pairs, bytesField(2, sample)]));
}
