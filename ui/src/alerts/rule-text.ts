/** Texts of rule files: what a new one begins with, and where one is wrong. Pure. */
import type { TextFault } from '../parts/editor/text-fault.ts';

/** Counts the logs of a search. A JSON text is YAML too. */
export function ruleOfSearch(query: string): string {
  const name = query.trim() === '' ? 'all logs' : query.trim().slice(0, 80).toWellFormed();
  return `groups:
- name: ${JSON.stringify(name)}
  type: logs
  interval: 1m
  rules:
  - alert: TooManyLogs
    query: ${JSON.stringify(query.trim())}
    stat: count
    window: 5m
    condition: '> 10'
    labels: { severity: warning }
    annotations:
      summary: '{{ $value }} logs in 5 minutes'
`;
}

/** @param expr PromQL; empty = an example */
export function ruleOfMetrics(expr: string): string {
  const isExample = expr === '';
  const summary = isExample
    ? '{{ $labels.instance }} of {{ $labels.job }} is down'
    : '{{ $value }}';
  return `groups:
- name: ${isExample ? 'new group' : JSON.stringify(expr.slice(0, 80).toWellFormed())}
  interval: 1m
  rules:
  - alert: ${isExample ? 'ServiceDown' : 'NewAlert'}
    expr: ${isExample ? 'up == 0' : JSON.stringify(expr)}
    for: 5m
    labels: { severity: page }
    annotations:
      summary: '${summary}'
`;
}

/** Lines `3:5: …` after `cannot accept the rules:`, with their places; other errors have none. */
export function toRuleFaults(text: string, error: unknown): TextFault[] {
  const whole = error instanceof Error ? error.message : String(error);
  const listed = /^cannot accept the rules:\n(.*)$/s.exec(whole)?.[1];
  if (listed === undefined) return [{ position: undefined, message: whole }];
  const starts = lineStarts(text);
  return listed.split('\n').map((one) => {
    const [, line = '', column, message] = /^(\d+):(\d+): (.*)$/.exec(one) ?? [];
    const start = starts[Number(line) - 1];
    if (message === undefined || start === undefined) return { position: undefined, message: one };
    const position = Math.min(start + Number(column) - 1, text.length);
    return { position, message: `line ${line}: ${message}` };
  });
}

function lineStarts(text: string): number[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const own = start;
    start += line.length + 1;
    return own;
  });
}
