/** Sender configurations for a receiver. Pure. */
import type { Receiver } from '../../api/models.ts';
import { toJsonLogSnippets } from './json-logs.ts';
import { toLogListenerSnippets, toMetricListenerSnippets } from './listeners.ts';
import { toOtlpSnippets } from './otlp.ts';
import { toPrometheusSnippets } from './prometheus.ts';
import type { Snippet } from './snippet.ts';
import { toOtherLogSnippets, toOtherMetricSnippets } from './other-systems.ts';

export type Addressed = Pick<
  Receiver,
  'kind' | 'url' | 'metricsUrl' | 'grpc' | 'pushUrl' | 'writeUrl' | 'caFile'
>;

/** @param token the secret, or `tokenPlaceholder` */
export function toSnippets(receiver: Addressed, token: string): Snippet[] {
  const { kind, url = '', metricsUrl = '', grpc = '', caFile } = receiver;
  const { pushUrl = '', writeUrl = '' } = receiver;
  switch (kind) {
    case 'http_json':
      return [
        ...toJsonLogSnippets({ url, token, caFile }),
        ...toOtherLogSnippets({ url, token, caFile }),
        ...toLogListenerSnippets({ url, token, caFile }),
      ];
    case 'otlp':
      return toOtlpSnippets({ url, metricsUrl, grpc, token, caFile });
    case 'prometheus':
      return [
        ...toPrometheusSnippets({ url: writeUrl, pushUrl, token, caFile }),
        ...toOtherMetricSnippets({ url: writeUrl, token, caFile }),
        ...toMetricListenerSnippets({ url: writeUrl, token, caFile }),
      ];
  }
}
