/** The questions, put to every peer with the same values. Pure. */
import { type CorpusKind, rareService, type Samples } from './corpus.ts';
import type { FieldName, Filter, Question, TimeRange } from './peer.ts';

export interface QuestionKind {
  readonly name: string;
  /** @param round selects values; no two rounds are equal, so that no cache of results answers */
  readonly toQuestion: (round: number) => Question;
}

const hourMs = 3_600_000;
const quarterHourMs = hourMs / 4;
/** The range moves with each round by this much; no log is near its ends. */
const shiftMs = 1_700;

export function listQuestions(
  kind: CorpusKind,
  samples: Samples,
  corpus: TimeRange,
): QuestionKind[] {
  const whole = (round: number): TimeRange => ({
    sinceMs: corpus.sinceMs - hourMs + round * shiftMs,
    untilMs: corpus.untilMs + hourMs + round * shiftMs,
  });
  const quarterHour = (round: number): TimeRange => {
    const room = corpus.untilMs - corpus.sinceMs - quarterHourMs;
    const sinceMs = corpus.sinceMs + Math.floor((room * ((round * 7) % 24)) / 24) + round;
    return { sinceMs, untilMs: sinceMs + quarterHourMs };
  };
  type ToFilter = (round: number) => Filter;
  const list = (name: string, toFilter: ToFilter, toRange = whole): QuestionKind => ({
    name,
    toQuestion: (round) => ({ kind: 'list', filter: toFilter(round), ...toRange(round) }),
  });
  const histogram = (name: string, toFilter: ToFilter, bySeverity = false): QuestionKind => ({
    name,
    toQuestion: (round) => ({
      kind: 'histogram',
      bySeverity,
      filter: toFilter(round),
      ...whole(round),
    }),
  });
  const facets = (
    name: string,
    fields: readonly FieldName[],
    toFilter: ToFilter = all,
  ): QuestionKind => ({
    name,
    toQuestion: (round) => ({ kind: 'facets', fields, filter: toFilter(round), ...whole(round) }),
  });
  const all: ToFilter = () => ({});
  const service: ToFilter = (round) => ({ service: pick(samples.services, round) });
  const error: ToFilter = () => ({ severity: 'ERROR' });
  const errorWord: ToFilter = () => ({ severity: 'ERROR', words: [kind.errorWord] });
  const many: ToFilter = (round) => ({
    label: { key: kind.manyLabel, value: pick(samples.manyLabels, round) },
  });
  const one: ToFilter = (round) => ({
    label: { key: 'request_id', value: pick(samples.requestIds, round) },
  });
  return [
    list('list the newest 100', all),
    list('list one service', service),
    list('list a rare service', () => ({ service: rareService })),
    list('list ERROR', error),
    list('list ERROR with a word in 15 minutes', errorWord, quarterHour),
    list(`label with many logs (${kind.manyLabel})`, many),
    list('label of one log (request_id)', one),
    list('search a word of one log', (round) => ({ words: [pick(samples.needles, round)] })),
    list('search a hexadecimal id', (round) => ({ words: [pick(samples.hexIds, round)] })),
    list('search an absent word', (round) => ({ words: [absentWord(round)] })),
    list('search part of a hexadecimal id', (round) => ({
      part: pick(samples.hexIds, round).slice(3, 14),
    })),
    list('search two common words', () => ({ words: kind.commonWords })),
    list('search a phrase', (round) => ({ phrase: pick(samples.phrases, round) })),
    histogram('histogram, 60 buckets', all),
    histogram('histogram by severity', all, true),
    histogram('histogram of one service', service),
    histogram('histogram of a word', () => ({ words: [kind.histogramWord] })),
    facets('facet by service', ['service']),
    facets('facet by severity', ['severity']),
    facets('facet by host of ERROR in one service', ['host'], (round) => ({
      ...error(round),
      ...service(round),
    })),
    facets('facets by severity, host and service', ['severity', 'host', 'service']),
  ];
}

/** Letters and digits that no message has in this order. */
function absentWord(round: number): string {
  return `zz${(round * 2_654_435_761 + 97).toString(36)}qq`;
}

function pick(values: readonly string[], round: number): string {
  const value = values[round % values.length];
  if (value === undefined) throw new Error('cannot ask: too few rows for this question');
  return value;
}
