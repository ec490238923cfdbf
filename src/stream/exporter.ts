/** Exports: all logs that match, or the newest of them, streamed with bounded memory. */
import type { LogFilter, LogRecord, WalkPoint } from '../model/plan.ts';
import { StreamedResponse } from '../model/read-route.ts';
import { readContext, type ReadContextSource } from '../model/readable-streams.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
import type { ExportEvents, ExportOutcome } from '../telemetry/request-events.ts';
import { exportWriters, toChunks } from './export-formats.ts';
import { toFilter } from './plan.ts';
import type { ExportQuery } from './requests.ts';

export interface ExporterParts extends ReadContextSource {
  readonly store: Pick<Store, 'walk'>;
  readonly events: ExportEvents;
}

export interface ExportRequest {
  readonly accountId: string;
  readonly query: ExportQuery;
  /** @throws AppError when the token no longer permits the export */
  readonly recheck: () => Promise<void>;
}

export type Exporter = ReturnType<typeof createExporter>;

const defaultRecheckMs = 5_000;

/**
 * @param maxExports in progress at once, half of them for one account.
 * @param recheckMs between two checks of the token and of retention.
 */
export function createExporter(
  parts: ExporterParts,
  { maxExports, recheckMs = defaultRecheckMs }: { maxExports: number; recheckMs?: number },
) {
  const { events, now } = parts;
  const semaphore = createSemaphore({
    what: 'exports',
    places: maxExports,
    setting: 'stream.maxExports',
  });

  /** Acquires its place with the first chunk, so that an export that is not read holds none. */
  async function* run(
    request: ExportRequest,
    firstFilter: LogFilter,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const release = await semaphore.acquire(request.accountId);
    events.began();
    const { format } = request.query;
    const startedAt = performance.now();
    let logs = 0;
    let outcome: ExportOutcome = 'left';
    try {
      let text = exportWriters[format].header;
      for await (const step of walk(parts, { request, firstFilter, recheckMs }, signal)) {
        logs += step.length;
        events.logsExported(format, step.length);
        for (const chunk of toChunks(step, format)) {
          yield text + chunk;
          text = '';
        }
      }
      if (text !== '') yield text;
      outcome = 'finished';
    } catch (error) {
      if (!signal.aborted) {
        outcome = 'failed';
        events.failed(error as Error);
      }
      throw error;
    } finally {
      release();
      events.ended(outcome, { format, logs, seconds: (performance.now() - startedAt) / 1000 });
    }
  }

  return {
    /** @throws AppError `not_found` for a stream of another account; `unavailable` */
    async check(request: ExportRequest): Promise<void> {
      await filterOf(parts, request);
    },
    /**
     * Newest first, from the newest log at the time of the first read. A failure after the first
     * chunk is thrown by the chunks.
     * @throws AppError `not_found` | `unavailable`
     */
    async open(request: ExportRequest, signal: AbortSignal): Promise<StreamedResponse> {
      const filter = await filterOf(parts, request);
      const { mediaType, extension } = exportWriters[request.query.format];
      return new StreamedResponse(mediaType, run(request, filter, signal), {
        'content-disposition': `attachment; filename="${toFileName(now(), extension)}"`,
        'referrer-policy': 'no-referrer',
      });
    },
  };
}

interface Walk {
  readonly request: ExportRequest;
  readonly firstFilter: LogFilter;
  readonly recheckMs: number;
}

/** Steps of the export; each is read while the one before it is written. */
async function* walk(
  parts: ExporterParts,
  { request, firstFilter, recheckMs }: Walk,
  signal: AbortSignal,
): AsyncGenerator<readonly LogRecord[]> {
  let filter = firstFilter;
  let checkedAt = performance.now();
  let limit = request.query.limit ?? Number.MAX_SAFE_INTEGER;
  const read = (from: WalkPoint | undefined) => parts.store.walk({ filter, limit, from }, signal);
  let reading = read(undefined);
  for (;;) {
    const { logs, next } = await reading;
    signal.throwIfAborted();
    if (performance.now() - checkedAt >= recheckMs) {
      await request.recheck();
      filter = await filterOf(parts, request);
      checkedAt = performance.now();
    }
    limit -= logs.length;
    const isLast = next === undefined || limit === 0;
    if (!isLast) {
      reading = read(next);
      // A failure is thrown where the step is awaited, which an aborted export never reaches.
      reading.catch(() => {});
    }
    yield logs;
    if (isLast) return;
  }
}

/** @throws AppError `not_found` for a stream of another account; `unavailable` */
async function filterOf(
  parts: ExporterParts,
  { accountId, query }: ExportRequest,
): Promise<LogFilter> {
  return toFilter(await readContext(parts, accountId), query);
}

/** `weir-logs-20260401T083000Z.csv` */
function toFileName(nowMs: number, extension: string): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `weir-logs-${time}.${extension}`;
}
