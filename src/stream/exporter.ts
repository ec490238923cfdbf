/**
 * Exports: everything that matches, or the newest of it, written as it is read, in memory that does
 * not grow with it. What an export is asked and how it travels is settled elsewhere.
 */
import type { Grants } from '../directory/port.ts';
import type { LogFilter, LogRecord, WalkPoint } from '../model/plan.ts';
import { StreamedAnswer } from '../model/read-route.ts';
import { createTurns } from '../std/turns.ts';
import type { Store } from '../store/port.ts';
import type { ExportEvents, ExportOutcome } from '../telemetry/request-events.ts';
import { exportWritings, toChunks } from './export-formats.ts';
import type { ExportQuery } from './export-request.ts';
import { toFilter } from './plan.ts';

export interface ExportOptions {
  /** Exports under way at once, half of them for one account; further ones are refused. */
  readonly maxExports: number;
  /** How often a long export asks whether it may go on. */
  readonly recheckEveryMs: number;
}

export interface ExporterParts {
  readonly store: Pick<Store, 'walk'>;
  readonly grants: Pick<Grants, 'streams'>;
  readonly events: ExportEvents;
  /** Unix ms. */
  readonly now: () => number;
}

/** Who asks for what. */
export interface AskedExport {
  readonly accountId: string;
  readonly query: ExportQuery;
  /** @throws AppError once the one who asked may no longer */
  readonly recheck: () => Promise<void>;
}

export interface Exporter {
  /** @throws AppError `not_found` for a stream that is not the account's; `unavailable` */
  check(asked: AskedExport): Promise<void>;
  /**
   * Newest first, from the newest log there is when the reading begins. Whatever is wrong comes
   * before the first chunk where it can; later the chunks throw.
   * @throws AppError `not_found` | `unavailable`
   */
  open(asked: AskedExport, signal: AbortSignal): Promise<StreamedAnswer>;
}

export function createExporter(parts: ExporterParts, options: ExportOptions): Exporter {
  const { events, now } = parts;
  const setting = 'stream.maxExports';
  const turns = createTurns({ what: 'exports', places: options.maxExports, setting });

  /** Takes its place with the first chunk that is asked for: one that nobody reads holds none. */
  async function* run(asked: AskedExport, signal: AbortSignal): AsyncGenerator<string> {
    const leave = await turns.take(asked.accountId);
    events.began();
    const { format } = asked.query;
    const startedAt = performance.now();
    let logs = 0;
    let outcome: ExportOutcome = 'left';
    try {
      let text = exportWritings[format].header;
      for await (const step of walk(parts, options, asked, signal)) {
        logs += step.length;
        events.logsExported(format, step.length);
        for (const chunk of toChunks(step, exportWritings[format])) {
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
      leave();
      events.ended(outcome, { format, logs, seconds: (performance.now() - startedAt) / 1000 });
    }
  }

  return {
    async check(asked) {
      await filterOf(parts, asked);
    },
    async open(asked, signal) {
      await filterOf(parts, asked);
      const { mediaType, extension } = exportWritings[asked.query.format];
      return new StreamedAnswer(mediaType, run(asked, signal), {
        'content-disposition': `attachment; filename="${toFileName(now(), extension)}"`,
        'referrer-policy': 'no-referrer',
      });
    },
  };
}

/**
 * What matches in steps, each read while the one before is written. Rights, and what is still kept,
 * are looked at again on the way.
 */
async function* walk(
  parts: ExporterParts,
  { recheckEveryMs }: ExportOptions,
  asked: AskedExport,
  signal: AbortSignal,
): AsyncGenerator<readonly LogRecord[]> {
  let filter = await filterOf(parts, asked);
  let checkedAt = performance.now();
  let limit = asked.query.limit ?? Number.MAX_SAFE_INTEGER;
  const read = (from: WalkPoint | undefined) => parts.store.walk({ filter, limit, from }, signal);
  let reading = read(undefined);
  for (;;) {
    const { logs, next } = await reading;
    signal.throwIfAborted();
    if (performance.now() - checkedAt >= recheckEveryMs) {
      await asked.recheck();
      filter = await filterOf(parts, asked);
      checkedAt = performance.now();
    }
    limit -= logs.length;
    const isLast = next === undefined || limit === 0;
    if (!isLast) {
      reading = read(next);
      // How it went matters once it is its turn, which may never come.
      reading.catch(() => {});
    }
    yield logs;
    if (isLast) return;
  }
}

async function filterOf(
  { grants, now }: ExporterParts,
  { accountId, query }: AskedExport,
): Promise<LogFilter> {
  return toFilter({ accountId, streams: await grants.streams(accountId), nowMs: now() }, query);
}

/** `weir-logs-20260401T083000Z.csv` */
function toFileName(nowMs: number, extension: string): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `weir-logs-${time}.${extension}`;
}
