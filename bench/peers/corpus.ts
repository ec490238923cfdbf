/**
 * The logs that every peer receives, and values that occur in them. The seed determines every byte
 * except the timestamps, which follow from the time range.
 */
import { open } from 'node:fs/promises';
import { createRandom, type Random } from '../../test/harness/random.ts';
import { createEventSource, type LogEvent } from '../corpus.ts';
import { hex } from '../draws.ts';
import { createMixedEvents } from './mixed-events.ts';

/**
 * One kind of logs and what to ask for. Weir searches substrings without regard to case and
 * VictoriaLogs words, so a word listed here must occur only as a whole word and in this case.
 */
export interface CorpusKind {
  readonly description: string;
  readonly createEvents: (random: Random) => () => LogEvent;
  /** Label with many logs per value. */
  readonly manyLabel: string;
  /** Two words that many messages contain. */
  readonly commonWords: readonly [string, string];
  /** Occurs in messages of severity ERROR. */
  readonly errorWord: string;
  readonly histogramWord: string;
  /** The group is a hexadecimal id that occurs once. */
  readonly hexId: RegExp;
  /** The group is a phrase of several words. */
  readonly phrase: RegExp;
}

export const corpusKinds = {
  services: {
    description: '40 services on 200 hosts, messages of 60 to 300 bytes',
    createEvents: createEventSource,
    manyLabel: 'version',
    commonWords: ['stored', 'basket'],
    errorWord: 'retried',
    histogramWord: 'expired',
    hexId: /session=([0-9a-f]{24})/,
    phrase: /(customer \d+ in) /,
  },
  mixed: {
    description:
      '240 services, 2,880 pods, messages of about 600 bytes: access lines, JSON, SQL, stacks',
    createEvents: createMixedEvents,
    manyLabel: 'tenant',
    commonWords: ['slow', 'external'],
    errorWord: 'deadline',
    histogramWord: 'archived',
    hexId: /session=([0-9a-f]{32})/,
    phrase: /(from shelf \d+ to dock)/,
  },
} as const satisfies Record<string, CorpusKind>;

export type CorpusName = keyof typeof corpusKinds;

/** Service of one log in ten thousand. */
export const rareService = 'yearly-audit';
const rareEvery = 10_000;

export interface CorpusOptions {
  readonly seed: number;
  readonly rows: number;
  /** Unix ms; the logs are spread evenly between these. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Values of logs spread over the corpus, for questions whose answer no cache has. */
export interface Samples {
  readonly services: readonly string[];
  readonly manyLabels: readonly string[];
  readonly requestIds: readonly string[];
  /** Words of one log each. */
  readonly needles: readonly string[];
  readonly hexIds: readonly string[];
  readonly phrases: readonly string[];
}

/** One line of JSON per log. Deterministic; `samples` is complete after the last line. */
export interface CorpusLines {
  next(): string;
  readonly samples: Samples;
}

const samplesWanted = 200;
/** Logs arrive up to this much later than others of their time. */
const maxLagMs = 2_000;

export function createCorpusLines(kind: CorpusKind, options: CorpusOptions): CorpusLines {
  const { seed, rows, startMs, endMs } = options;
  const random = createRandom(seed);
  const nextEvent = kind.createEvents(random);
  const sampler = createSampler(Math.max(1, Math.floor(rows / samplesWanted)));
  const needleEvery = Math.max(1, Math.floor(rows / samplesWanted));
  const stepMs = (endMs - startMs) / rows;
  let index = 0;
  return {
    samples: sampler.samples,
    next() {
      const drawn = nextEvent();
      const needle = index % needleEvery === needleEvery >> 1 ? `needle${hex(random, 12)}` : '';
      const event: LogEvent = {
        ...drawn,
        service_name: index % rareEvery === rareEvery >> 1 ? rareService : drawn.service_name,
        message: needle === '' ? drawn.message : `${drawn.message} ${needle}`,
      };
      const lagMs = random.next() * Math.min(maxLagMs, index * stepMs);
      const timestamp = new Date(startMs + index * stepMs - lagMs).toISOString();
      if (needle !== '') sampler.take(index, 'needles', needle);
      sampler.take(index, 'services', drawn.service_name);
      sampler.take(index, 'manyLabels', event.labels[kind.manyLabel]);
      sampler.take(index, 'requestIds', event.labels['request_id']);
      sampler.takeMatch(index, 'hexIds', event.message, kind.hexId);
      sampler.takeMatch(index, 'phrases', event.message, kind.phrase);
      index += 1;
      return JSON.stringify({ timestamp, ...event });
    },
  };
}

/** Takes a value of each kind at most once in `every` logs. */
function createSampler(every: number) {
  const samples: Record<keyof Samples, string[]> = {
    services: [],
    manyLabels: [],
    requestIds: [],
    needles: [],
    hexIds: [],
    phrases: [],
  };
  const isDue = (index: number, name: keyof Samples) => index >= samples[name].length * every;
  const take = (index: number, name: keyof Samples, value: string | undefined) => {
    if (value !== undefined && isDue(index, name)) samples[name].push(value);
  };
  return {
    samples,
    take,
    takeMatch(index: number, name: keyof Samples, text: string, pattern: RegExp) {
      if (isDue(index, name)) take(index, name, pattern.exec(text)?.[1]);
    },
  };
}

/** A corpus on disk, so that generating it costs the peers no CPU time while they are measured. */
export interface CorpusFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Byte range of each batch of whole lines. */
  readonly batches: readonly { readonly from: number; readonly to: number }[];
  readonly samples: Samples;
}

const rowsPerBatch = 1_000;

export async function writeCorpus(
  path: string,
  kind: CorpusKind,
  options: CorpusOptions,
): Promise<CorpusFile> {
  const lines = createCorpusLines(kind, options);
  const file = await open(path, 'w');
  const batches = [];
  let bytes = 0;
  for (let done = 0; done < options.rows; done += rowsPerBatch) {
    const rows = Math.min(rowsPerBatch, options.rows - done);
    const batch = Buffer.from(Array.from({ length: rows }, () => `${lines.next()}\n`).join(''));
    await file.writeFile(batch);
    batches.push({ from: bytes, to: bytes + batch.length });
    bytes += batch.length;
  }
  await file.close();
  return { path, rows: options.rows, bytes, batches, samples: lines.samples };
}
