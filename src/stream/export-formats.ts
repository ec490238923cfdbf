/** How an export is written in each format. Pure. */
import type { LogRecord } from '../model/plan.ts';
import { csvHeader, toCsvLine } from './csv.ts';
import type { ExportFormat } from './export-request.ts';

export interface ExportWriting {
  readonly mediaType: string;
  readonly extension: string;
  /** Before the first log. */
  readonly header: string;
  /** With the end of its line. */
  readonly toLine: (log: LogRecord) => string;
}

export const exportWritings: Readonly<Record<ExportFormat, ExportWriting>> = {
  ndjson: {
    mediaType: 'application/x-ndjson',
    extension: 'ndjson',
    header: '',
    toLine: (log) => `${JSON.stringify(log)}\n`,
  },
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    header: csvHeader,
    toLine: toCsvLine,
  },
};

/** Lines in chunks that a connection takes well, each line whole. */
export function* toChunks(
  logs: readonly LogRecord[],
  { toLine }: ExportWriting,
): Generator<string> {
  let chunk = '';
  for (const log of logs) {
    chunk += toLine(log);
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

const chunkLength = 128 * 1024;
