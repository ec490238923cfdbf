/** Rule files: what they mean, and the places of faults. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { readRuleFile } from './rule-file.ts';
import { writeRuleFile } from './write-rule-file.ts';

const options = {
  checkLogs: ({ stat }: { readonly stat: string }) =>
    ['count', 'new_patterns'].includes(stat) ? undefined : `unknown stat ${stat}`,
};

const file = `# comment
groups:
- name: availability
  interval: 30s
  query_offset: 1m
  limit: 10
  labels: { team: infra }
  rules:
  - record: job:up:sum
    expr: sum by (job) (up)
  - alert: Down
    expr: |
      up == 0
    for: 5m
    keep_firing_for: 1h30m
    labels: { severity: 1 }
    annotations:
      summary: '{{ $labels.job }} is down'
- name: errors
  type: logs
  rules:
  - alert: Errors
    query: severity>=error
    by: [service, host]
    window: 5m
    condition: '>= 1e2'
  - alert: NewErrors
    stat: new_patterns
    window: 5m
    baseline: 12h
`;

suite('rule files', () => {
  test('groups with alerts, recorded metrics and logs', () => {
    const [first, second] = readRuleFile(file, options);
    assert.deepEqual(first, {
      name: 'availability',
      intervalMs: 30_000,
      queryOffsetMs: 60_000,
      limit: 10,
      rules: [
        {
          kind: 'recording',
          name: 'job:up:sum',
          query: { type: 'prometheus', expr: 'sum by (job) (up)' },
          labels: { team: 'infra' },
        },
        {
          kind: 'alerting',
          name: 'Down',
          query: { type: 'prometheus', expr: 'up == 0\n' },
          labels: { team: 'infra', severity: '1' },
          annotations: { summary: '{{ $labels.job }} is down' },
          forMs: 300_000,
          keepFiringForMs: 5_400_000,
        },
      ],
    });
    assert.equal(second?.intervalMs, 60_000);
    assert.deepEqual(second.rules[0]?.query, {
      type: 'logs',
      query: 'severity>=error',
      stat: 'count',
      by: 'service,host',
      windowMs: 300_000,
      condition: { op: '>=', value: 100 },
    });
    assert.deepEqual(second.rules[1]?.query, {
      type: 'logs',
      query: '',
      stat: 'new_patterns',
      by: '',
      windowMs: 300_000,
      baselineMs: 43_200_000,
      condition: undefined,
    });
  });

  test('a written file reads as the same groups', () => {
    const groups = readRuleFile(file, options);
    assert.deepEqual(readRuleFile(writeRuleFile(groups), options), groups);
  });

  test('a written file reads as the same labels where YAML has a meaning for them', () => {
    const names = ['<<', '*a', '&a', '!x', 'null', '~', '1', 'yes', '# x', 'a: b', '- a', '? a'];
    const labels = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(name)}`).join();
    const text = rule(`{alert: '<<', expr: up, labels: {${labels}}, annotations: {${labels}}}`);
    const groups = readRuleFile(text, options);
    assert.deepEqual(Object.keys(groups[0]?.rules[0]?.labels ?? {}).sort(), names.toSorted());
    assert.deepEqual(readRuleFile(writeRuleFile(groups), options), groups);
  });

  test('names of metrics and labels may have any characters', () => {
    const text = rule('{record: a.b, expr: up, labels: {"c.d": e}}');
    const [group] = readRuleFile(text, options);
    assert.equal(group?.rules[0]?.name, 'a.b');
    assert.deepEqual(group.rules[0].labels, { 'c.d': 'e' });
  });

  test('a field without a value is an absent one', () => {
    const text = `
groups:
- name: a
  interval:
  limit:
  rules:
  - alert: A
    expr: up
    for:
    labels:
    annotations:
- name: b
  rules:
`;
    const [first, second] = readRuleFile(text, options);
    const bare = readRuleFile(rule('{alert: A, expr: up}'), options);
    assert.deepEqual(first, bare[0]);
    assert.deepEqual(second?.rules, []);
    assert.deepEqual(readRuleFile('groups:\n', options), []);
  });

  test('lists faults in the order of the file', () => {
    const text = rule('{alert: A, labels: {alertname: c}, expr: "up ="}\n  - {alert: C}');
    assert.throws(
      () => readRuleFile(text, options),
      /^AppError: cannot accept the rules:\n4:36: "alertname".*\n4:46: expr: .*\n5:5: .*$/,
    );
  });

  const rule = (text: string) => `groups:\n- name: a\n  rules:\n  - ${text}\n`;
  const logs = (text: string) =>
    `groups:\n- name: a\n  type: logs\n  rules:\n  - {alert: A, ${text}}`;
  // Ten lines that stand for 9^10 texts.
  const bomb = Array.from({ length: 10 }, (_, i) => {
    const item = i === 0 ? 'x' : `*a${i - 1}`;
    return `a${i}: &a${i} [${Array(9).fill(item).join(',')}]\n`;
  }).join('');
  const faults: readonly (readonly [name: string, text: string, fault: string])[] = [
    ['no YAML', 'groups: [', '1:10: '],
    ['an unknown alias', 'groups: *a', '1:9: alias *a has no anchor before it'],
    ['an alias within its anchor', 'groups: &a [*a]', '1:13: alias *a has no anchor before it'],
    ['aliases of aliases', bomb, 'aliases expand to more than 200000 values: split the file'],
    ['a merge of a text', rule('{<<: a, alert: A, expr: up}'), 'cannot merge by <<: Merge sources'],
    ['an unknown field', 'group: []', '1:8: unknown field "group"'],
    ['an expression', rule('{alert: A, expr: "up ="}'), '4:22: expr: 1:4: parse error'],
    ['a missing expression', rule('{alert: A}'), '4:5: a rule needs expr'],
    ['two kinds', rule('{alert: A, record: b, expr: up}'), '4:5: a rule needs one of alert and'],
    ['a duration', rule('{alert: A, expr: up, for: 5}'), '4:31: for: must be a duration'],
    [
      'a label',
      rule('{alert: A, expr: up, labels: {__name__: c}}'),
      '4:45: "__name__" cannot be a',
    ],
    [
      'a name that would be lost',
      rule('{alert: A, expr: up, annotations: {__proto__: c}}'),
      'annotations: must not have the name __proto__',
    ],
    ['a query as a name', rule('{record: "up{}", expr: up}'), '4:14: record: "up{}" is no name'],
    ['a template', rule('{alert: A, expr: up, annotations: {a: "{{ x }}"}}'), 'template of a'],
    [
      'a template of a group',
      "groups:\n- {name: a, labels: {b: '{{ x }}'}, rules: []}",
      '2:25: template of b: cannot use "x"',
    ],
    ['for of a record', rule('{record: a, expr: up, for: 5m}'), 'for: not in a recording rule'],
    ['a query of logs', rule('{alert: A, expr: up, query: x}'), 'query: only in a group with'],
    ['two names', 'groups:\n- {name: a, rules: []}\n- {name: a, rules: []}', '3:10: group "a"'],
    ['a stat', logs('stat: x, window: 5m'), 'unknown stat x'],
    ['a condition', logs('window: 5m'), '5:5: an alert on logs needs condition'],
    // In quadratic time this would not end.
    ['a form', logs(`condition: "> ${'1'.repeat(300_000)}x"`), 'condition: must be a comparison'],
    ['a baseline', logs('window: 5m, baseline: 1h'), 'baseline: only with stat: new_patterns'],
    [
      'a short baseline',
      logs('stat: new_patterns, window: 5m, baseline: 1m'),
      'baseline: must be at least as long as window',
    ],
    ['groups of patterns', logs('stat: new_patterns, window: 5m, by: host'), 'by: not with stat'],
  ];
  for (const [name, text, fault] of faults) {
    test(`names the place of a fault: ${name}`, () => {
      assert.throws(
        () => readRuleFile(text, options),
        (error) => {
          assert.ok(error instanceof AppError);
          assert.equal(error.code, 'malformed');
          assert.ok(error.message.includes(fault), error.message);
          return true;
        },
      );
    });
  }
});

test('an anchor may be used by each of a thousand rules', () => {
  const rules = Array.from(
    { length: 999 },
    (_, i) => `  - {alert: A${i}, expr: up, labels: *owned}\n`,
  );
  const first = '  - {alert: A, expr: up, labels: &owned {team: shop, severity: page}}\n';
  const [group] = readRuleFile(`groups:\n- name: a\n  rules:\n${first}${rules.join('')}`, options);
  const labels = { team: 'shop', severity: 'page' };
  assert.equal(group?.rules.length, 1_000);
  for (const rule of group.rules) assert.deepEqual(rule.labels, labels);
});

test('an alias stands for the last anchor of its name before it', () => {
  const text = `
groups:
- name: a
  rules:
  - {alert: A, expr: up, labels: &all {a: &one first}}
  - {alert: B, expr: up, labels: {a: &one second}}
  - {alert: C, expr: up, labels: *all}
  - {alert: D, expr: up, labels: {a: *one}}
`;
  const [group] = readRuleFile(text, options);
  const values = group?.rules.map(({ labels }) => labels['a']);
  assert.deepEqual(values, ['first', 'second', 'first', 'second']);
});

test('merges a rule by << and replaces some of its fields', () => {
  const text = `
groups:
- name: a
  rules:
  - &high
    alert: High
    expr: up
    for: 5m
    labels: &labels {severity: page, team: shop}
  - <<: *high
    alert: Higher
    labels: {<<: *labels, team: search}
`;
  const [group] = readRuleFile(text, options);
  const [first, second] = group!.rules;
  const labels = { severity: 'page', team: 'search' };
  assert.deepEqual(second, { ...first, name: 'Higher', labels });
});
