/** Sender configurations for a receiver. Pure. */
import type { Receiver } from '../../api/models.ts';
import { toJsonLogSnippets } from './json-logs.ts';
import { toOtlpSnippets } from './otlp.ts';
import { toPrometheusSnippets } from './prometheus.ts';
import { type Snippet, toCaFile } from './snippet.ts';

export type Addressed = Pick<Receiver, 'kind' | 'url' | 'grpc' | 'pushUrl' | 'writeUrl'>;

/** @param token the secret, or `tokenPlaceholder` */
export function toSnippets(receiver: Addressed, token: string): Snippet[] {
  const { kind, url = '', grpc = '', pushUrl = '', writeUrl = '' } = receiver;
  switch (kind) {
    case 'http_json':
      return toJsonLogSnippets({ url, token, caFile: toCaFile(url) });
    case 'otlp':
      return toOtlpSnippets({ url, grpc, token, caFile: toCaFile(url) });
    case 'prometheus':
      return toPrometheusSnippets({ url: writeUrl, pushUrl, token, caFile: toCaFile(writeUrl) });
  }
}
