/**
 * Reads rule groups in Prometheus' file format, with groups of `type: logs` besides. Faults name
 * line and column.
 * https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/
 */
import { type Document, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { joinNames } from '../model/log-fields.ts';
import { type LogsRuleQuery, newPatterns, type Rule, type RuleGroup } from '../model/rules.ts';
import { QueryError } from '../promql/errors.ts';
import { parseQuery } from '../promql/parser/parser.ts';
import { messageOf } from '../std/error-text.ts';
import { type FileGroup, type FileRule, ruleFileSchema } from './rule-schema.ts';
import { checkTemplate } from './template.ts';

export interface RuleFileOptions {
  /** @returns what is wrong with the query, stat or fields of a rule on logs. */
  readonly checkLogs: (query: LogsRuleQuery) => string | undefined;
}

const maxFaults = 10;
/** Values of a file with its aliases expanded. */
const maxExpandedNodes = 200_000;
const defaultIntervalMs = 60_000;
const minIntervalMs = 1_000;
const defaultBaselineMs = 86_400_000;

interface Fault {
  /** Of the file, in UTF-16 units. */
  readonly offset: number;
  readonly text: string;
}

type Path = readonly PropertyKey[];
type Report = (path: Path, message: string) => void;

/** @throws AppError `malformed` with up to ten faults */
export function readRuleFile(text: string, options: RuleFileOptions): RuleGroup[] {
  const lines = new LineCounter();
  // Every scalar is a text, as in Prometheus.
  const document = parseDocument(text, {
    schema: 'failsafe',
    // `<<: *anchor`, as in Prometheus.
    merge: true,
    lineCounter: lines,
    // Places are added to all messages alike.
    prettyErrors: false,
  });
  const faults: Fault[] = [];
  const addAt = (offset: number, message: string) => {
    const { line, col } = lines.linePos(offset);
    faults.push({ offset, text: `${Math.max(line, 1)}:${Math.max(col, 1)}: ${message}` });
  };
  for (const { pos, message } of document.errors) addAt(pos[0], message);
  fail(faults);
  const report: Report = (path, message) => addAt(offsetOf(document, path), message);
  expandAliases(document, (node, message) => {
    addAt(node.range?.[0] ?? 0, message);
    fail(faults);
  });
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    // The source of a merge is no map.
    fail([{ offset: 0, text: `cannot merge by <<: ${messageOf(error)}` }]);
  }
  const parsed = ruleFileSchema.safeParse(content ?? {});
  if (!parsed.success) {
    for (const issue of parsed.error.issues) reportIssue(issue, report);
    fail(faults);
    throw parsed.error;
  }
  const names = new Set<string>();
  const groups = (parsed.data.groups ?? []).map((group, i) => {
    const path = ['groups', i];
    const isKnown = names.has(group.name);
    if (isKnown) report([...path, 'name'], `group ${quote(group.name)} appears twice`);
    names.add(group.name);
    return toGroup(group, { ...options, path, report });
  });
  fail(faults);
  return groups;
}

/**
 * Puts the nodes in place of their aliases, against files that stand for many times their size.
 * `toJS` would search all nodes for each alias, and bounds uses of an anchor, not their size.
 * @param reportFault throws
 */
function expandAliases(
  document: Document.Parsed,
  reportFault: (at: Node, message: string) => void,
): void {
  const nodes = new Map<string, Node>();
  const anchored = new Set<Node>();
  let count = 0;
  visit(document, {
    Node(_key, node) {
      count += 1;
      const { anchor } = node as { anchor?: string };
      // A node that is visited again through an alias does not define its anchors again.
      if (anchor === undefined || anchored.has(node)) return;
      nodes.set(anchor, node);
      anchored.add(node);
    },
    Alias(_key, alias, ancestors) {
      const node = nodes.get(alias.source);
      if (node === undefined || ancestors.includes(node)) {
        reportFault(alias, `alias *${alias.source} has no anchor before it`);
      }
      if (count > maxExpandedNodes) {
        const text = `aliases expand to more than ${maxExpandedNodes} values`;
        reportFault(alias, `${text}: split the file, or use fewer of them`);
      }
      return node;
    },
  });
}

interface Context extends RuleFileOptions {
  readonly path: Path;
  readonly report: Report;
}

function toGroup(group: FileGroup, context: Context): RuleGroup {
  const { name, interval = defaultIntervalMs, query_offset = 0, limit = '0', rules = [] } = group;
  const { path, report } = context;
  if (interval < minIntervalMs) report([...path, 'interval'], 'interval: must be at least 1s');
  checkLabels(group.labels, [...path, 'labels'], report);
  checkTemplates(group.labels, [...path, 'labels'], report);
  return {
    name,
    intervalMs: interval,
    queryOffsetMs: query_offset,
    limit: Number(limit),
    rules: rules.map((rule, i) => toRule(rule, group, { ...context, path: [...path, 'rules', i] })),
  };
}

function toRule(rule: FileRule, group: FileGroup, context: Context): Rule {
  const { path, report } = context;
  const { record, alert, annotations = {} } = rule;
  const labels = { ...group.labels, ...rule.labels };
  if ((record === undefined) === (alert === undefined)) {
    report(path, 'a rule needs one of alert and record');
  }
  const query = group.type === 'logs' ? toLogsQuery(rule, context) : toPromQuery(rule, context);
  checkLabels(rule.labels, [...path, 'labels'], report);
  checkTemplates(rule.labels, [...path, 'labels'], report);
  checkTemplates(annotations, [...path, 'annotations'], report);
  if (record === undefined) {
    const { for: forMs = 0, keep_firing_for: keepFiringForMs = 0 } = rule;
    const name = alert ?? '';
    return { kind: 'alerting', name, query, labels, annotations, forMs, keepFiringForMs };
  }
  // Any UTF-8, as in Prometheus 3. Braces are PromQL in the wrong field, also to Prometheus.
  if (/[{}]/.test(record) || !record.isWellFormed()) {
    report([...path, 'record'], `record: ${quote(record)} is no name of a metric`);
  }
  for (const key of ['for', 'keep_firing_for', 'annotations'] as const) {
    if (rule[key] !== undefined) report([...path, key], `${key}: not in a recording rule`);
  }
  return { kind: 'recording', name: record, query, labels };
}

function toPromQuery(rule: FileRule, { path, report }: Context): Rule['query'] {
  for (const key of ['query', 'stat', 'by', 'window', 'baseline', 'condition'] as const) {
    if (rule[key] !== undefined) report([...path, key], `${key}: only in a group with type: logs`);
  }
  const { expr } = rule;
  if (expr === undefined) report(path, 'a rule needs expr');
  else {
    try {
      parseQuery(expr);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      report([...path, 'expr'], `expr: ${error.message}`);
    }
  }
  return { type: 'prometheus', expr: expr ?? '' };
}

function toLogsQuery(rule: FileRule, { path, report, checkLogs }: Context): Rule['query'] {
  if (rule.expr !== undefined) report([...path, 'expr'], 'expr: not in a group with type: logs');
  if (rule.window === undefined || rule.window < 1000) {
    report(
      rule.window === undefined ? path : [...path, 'window'],
      'a rule on logs needs window, of at least 1s',
    );
  }
  const { query = '', stat = 'count', by = [], window: windowMs = 0 } = rule;
  const fields = typeof by === 'string' ? by : joinNames(by);
  const baseline = checkBaseline(rule, { path, report });
  if (rule.alert !== undefined && rule.condition === undefined && stat !== newPatterns) {
    report(path, 'an alert on logs needs condition, such as > 10');
  }
  const logs = { query, stat, by: fields, windowMs, ...baseline, condition: rule.condition };
  const fault = checkLogs(logs);
  if (fault !== undefined) report(path, fault);
  return { type: 'logs', ...logs };
}

/** @returns the baseline of a rule on new patterns. */
function checkBaseline(
  rule: FileRule,
  { path, report }: Pick<Context, 'path' | 'report'>,
): Pick<LogsRuleQuery, 'baselineMs'> {
  const { stat, window: windowMs = 0, baseline } = rule;
  if (stat !== newPatterns) {
    if (baseline !== undefined) {
      report([...path, 'baseline'], `baseline: only with stat: ${newPatterns}`);
    }
    return {};
  }
  for (const key of ['record', 'by'] as const) {
    if (rule[key] !== undefined) report([...path, key], `${key}: not with stat: ${newPatterns}`);
  }
  const baselineMs = baseline ?? Math.max(defaultBaselineMs, windowMs);
  if (baselineMs < windowMs) {
    report([...path, 'baseline'], 'baseline: must be at least as long as window');
  }
  return { baselineMs };
}

/** Set by the rule itself. */
const reservedLabels: readonly string[] = ['', '__name__', 'alertname'];

function checkLabels(labels: FileRule['labels'], path: Path, report: Report): void {
  for (const name of Object.keys(labels ?? {})) {
    if (name.isWellFormed() && !reservedLabels.includes(name)) continue;
    report([...path, name], `${quote(name)} cannot be a label of a rule`);
  }
}

function checkTemplates(
  templates: Readonly<Record<string, string>> | undefined,
  path: Path,
  report: Report,
): void {
  for (const [name, text] of Object.entries(templates ?? {})) {
    try {
      checkTemplate(text);
    } catch (error) {
      report([...path, name], `template of ${name}: ${messageOf(error)}`);
    }
  }
}

function reportIssue(issue: z.core.$ZodIssue, report: Report): void {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) report([...issue.path, key], `unknown field ${quote(key)}`);
    return;
  }
  const field = issue.path.at(-1);
  report(issue.path, typeof field === 'string' ? `${field}: ${issue.message}` : issue.message);
}

/** Of the value at the path, or of the nearest one around it. */
function offsetOf(document: Document, path: Path): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (typeof node !== 'object' || node === null || !('range' in node)) continue;
    const { range } = node;
    if (Array.isArray(range)) return Number(range[0]);
  }
  return 0;
}

function fail(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const texts = faults.toSorted((a, b) => a.offset - b.offset).map(({ text }) => text);
  if (texts.length > maxFaults) {
    texts.splice(maxFaults, Infinity, `and ${faults.length - maxFaults} more`);
  }
  throw new AppError('malformed', `cannot accept the rules:\n${texts.join('\n')}`, {
    parameter: 'rules',
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
