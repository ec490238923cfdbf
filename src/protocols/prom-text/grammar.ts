/**
 * Where the two text formats of metrics differ: the classic one
 * (https://prometheus.io/docs/instrumenting/exposition_formats, "Text-based format") and
 * OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec). The scanners ask these
 * values and know nothing else of the formats.
 */

export interface Grammar {
  /**
   * `any`: spaces and tabs as one likes, blank lines and comments; `single`: one space where one is
   * due, and none of the others.
   */
  readonly spacing: 'any' | 'single';
  /** `refused` beyond those that are defined, or `kept` with both characters. */
  readonly otherEscapes: 'refused' | 'kept';
  /** Unit of times: whole milliseconds, or seconds with a fraction. */
  readonly times: 'milliseconds' | 'seconds';
  /** Label names that senders may not use begin so; `__name__` is none of theirs in any format. */
  readonly reservedPrefix: string | undefined;
  /** What a body has to end with. */
  readonly lastLine: '# EOF' | undefined;
  /** Words of a TYPE line. */
  readonly types: readonly string[];
  readonly metadata: readonly MetadataKind[];
}

export type MetadataKind = 'HELP' | 'TYPE' | 'UNIT';

export const classicText: Grammar = {
  spacing: 'any',
  otherEscapes: 'refused',
  times: 'milliseconds',
  reservedPrefix: undefined,
  lastLine: undefined,
  types: ['counter', 'gauge', 'histogram', 'summary', 'untyped'],
  metadata: ['HELP', 'TYPE'],
};

export const openMetrics: Grammar = {
  spacing: 'single',
  otherEscapes: 'kept',
  times: 'seconds',
  reservedPrefix: '__',
  lastLine: '# EOF',
  types: [
    'counter',
    'gauge',
    'histogram',
    'gaugehistogram',
    'stateset',
    'info',
    'summary',
    'unknown',
  ],
  metadata: ['HELP', 'TYPE', 'UNIT'],
};
