/** Rules from a file to alerts and recorded metrics, over restarts. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { prometheusBaseUrl, pushText } from '../harness/metrics.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { applyRules } from '../harness/control.ts';

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: string;
  readonly activeAt: string;
  readonly value: string;
}

async function ask<Data>(path: string, parameters: Record<string, string> = {}): Promise<Data> {
  const { accessToken, accountId } = service.quickstart;
  const url = `${prometheusBaseUrl(service)}/api/v1/${path}`;
  const answer = await service.http.send(`${url}?${new URLSearchParams(parameters).toString()}`, {
    headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json<{ data: Data }>().data;
}

const alerts = async () => (await ask<{ alerts: Alert[] }>('alerts')).alerts;

/** @returns the alert, once it has the state. */
function alertIn(state: string, name: string): Promise<Alert> {
  return until(
    async () =>
      (await alerts()).find((one) => one.labels['alertname'] === name && one.state === state),
    { what: `${name} to be ${state}` },
  );
}

async function push(text: string): Promise<void> {
  const { status, text: reason } = await pushText(service, text);
  assert.equal(status, 202, reason);
}

suite('rules', () => {
  test('a rule on metrics is pending, fires, survives a kill, and resolves', async () => {
    await push('jobs_failing{job="backup"} 3\n');
    await applyRules(
      service,
      `
groups:
- name: jobs
  interval: 1s
  rules:
  - record: jobs:failing:sum
    expr: sum(jobs_failing)
  - alert: JobsFailing
    expr: jobs_failing > 0
    for: 3s
    annotations: { summary: '{{ $value }} of {{ $labels.job }}' }
`,
    );
    const pending = await alertIn('pending', 'JobsFailing');
    assert.equal(pending.value, '3e+00');
    await service.kill('SIGKILL');
    await service.start();
    const firing = await alertIn('firing', 'JobsFailing');
    assert.equal(firing.activeAt, pending.activeAt);
    assert.deepEqual(firing.labels, { alertname: 'JobsFailing', job: 'backup' });
    assert.deepEqual(firing.annotations, { summary: '3 of backup' });
    const query = 'ALERTS{alertname="JobsFailing",alertstate="firing"}';
    await until(
      async () =>
        (await ask<{ result: unknown[] }>('query', { query })).result.length === 1 &&
        (await ask<{ result: unknown[] }>('query', { query: 'jobs:failing:sum' })).result.length ===
          1,
      { what: 'the recorded series' },
    );
    const ofPending = { query: 'ALERTS{alertname="JobsFailing",alertstate="pending"}' };
    await until(
      async () => (await ask<{ result: unknown[] }>('query', ofPending)).result.length === 0,
      { what: 'the end of the series that was written before the kill' },
    );
    const { groups } = await ask<{ groups: { lastEvaluation: string; rules: object[] }[] }>(
      'rules',
    );
    // As the first evaluation after a start reads back what it may have to end.
    const ofLast = {
      query: 'last_over_time({__name__="jobs:failing:sum"}[1ms])',
      time: groups[0]!.lastEvaluation,
    };
    const lastSeries = await until(
      async () => (await ask<{ result: { metric: object }[] }>('query', ofLast)).result[0],
      { what: 'the samples of the last evaluation' },
    );
    assert.deepEqual(lastSeries.metric, { __name__: 'jobs:failing:sum' });
    assert.partialDeepStrictEqual(groups, [
      {
        name: 'jobs',
        interval: 1,
        rules: [
          { type: 'recording', name: 'jobs:failing:sum', health: 'ok' },
          { type: 'alerting', name: 'JobsFailing', state: 'firing', duration: 3, health: 'ok' },
        ],
      },
    ]);
    await push('jobs_failing{job="backup"} 0\n');
    await until(async () => (await alerts()).length === 0, { what: 'the alert to resolve' });
    await until(
      async () => (await ask<{ result: unknown[] }>('query', { query })).result.length === 0,
      { what: 'the end of ALERTS' },
    );
  });

  test('rules are listed by their own labels', async () => {
    await applyRules(
      service,
      `
groups:
- name: owned
  labels: { team: shop }
  rules:
  - { record: of:shop, expr: vector(1) }
  - { record: of:page, expr: vector(1), labels: { severity: page } }
`,
    );
    const listed = async (selector: string) => {
      const { groups } = await ask<{ groups: { rules: { name: string }[] }[] }>('rules', {
        'match[]': selector,
      });
      return groups.flatMap(({ rules }) => rules.map(({ name }) => name));
    };
    assert.deepEqual(await listed('{team="shop"}'), ['of:shop', 'of:page']);
    assert.deepEqual(await listed('{team="shop",severity!="page"}'), ['of:shop']);
    assert.deepEqual(await listed('{severity=~"p.+"}'), ['of:page']);
    const { streamId } = service.quickstart;
    const ended = await service.admin('DELETE', `/streams/${streamId}/rule-groups/owned`);
    assert.equal(ended.status, 204, ended.text);
  });

  test('a rule on logs counts by service, and another one tells their absence', async () => {
    await applyRules(
      service,
      `
groups:
- name: logs
  type: logs
  interval: 1s
  rules:
  - { alert: NoErrors, query: severity>=error, window: 10m, condition: '== 0' }
  - { alert: Errors, query: severity>=error, window: 10m, by: service, condition: '> 1' }
`,
    );
    await alertIn('firing', 'NoErrors');
    const events = ['checkout', 'checkout', 'search'].map((service_name) => ({
      message: 'failed',
      severity: 'ERROR',
      service_name,
    }));
    assert.equal((await service.postLogs(events)).status, 202);
    const alert = await alertIn('firing', 'Errors');
    assert.equal(alert.labels['service'], 'checkout');
    assert.equal(alert.value, '2e+00');
    await until(
      async () => (await alerts()).every(({ labels }) => labels['alertname'] !== 'NoErrors'),
      { what: 'NoErrors to resolve' },
    );
  });

  test('a rule that cannot be evaluated is an alert', async () => {
    await push('twins{a="1"} 1\ntwins{a="2"} 1\n');
    await applyRules(
      service,
      `
groups:
- name: broken
  interval: 1s
  rules:
  - alert: Twins
    expr: twins * on () twins
`,
    );
    const alert = await alertIn('firing', 'RuleEvaluationFailed');
    assert.equal(alert.labels['rule'], 'Twins');
    assert.match(alert.annotations['description'] ?? '', /many-to-many|duplicate/);
  });

  test('a preview lists the alerts of stored data, and saves nothing', async () => {
    const { streamId } = service.quickstart;
    const rules = `
groups:
- name: preview
  rules:
  - alert: Twins
    expr: twins{a="1"} > 0
    annotations: { summary: '{{ $labels.a }}' }
- name: preview-logs
  type: logs
  rules:
  - { alert: Errors, query: severity>=error, window: 10m, by: service, condition: '> 1' }
  - { alert: NoErrors, query: severity>=error, window: 1m, condition: '== 0' }
`;
    const untilMs = Date.now();
    const sinceTime = new Date(untilMs - 119_999).toISOString();
    const untilTime = new Date(untilMs).toISOString();
    const path = `/streams/${streamId}/rule-groups/preview`;
    const times = { sinceTime, untilTime, step: '1s' };
    const answer = await service.admin('POST', path, { rules, ...times });
    assert.equal(answer.status, 200, answer.text);
    const { alerts: previewed, groups } = answer.json<{
      alerts: { labels: Record<string, string>; firedAt: string | null; endedAt: string | null }[];
      groups: object[];
    }>();
    assert.partialDeepStrictEqual(groups, [
      { name: 'preview', stepSeconds: 1, evaluations: 120, failures: [] },
      { name: 'preview-logs', evaluations: 120, failures: [] },
    ]);
    const named = (name: string) => previewed.filter(({ labels }) => labels['alertname'] === name);
    assert.partialDeepStrictEqual(named('Twins'), [{ labels: { a: '1' }, endedAt: null }]);
    assert.partialDeepStrictEqual(named('Errors'), [
      { labels: { service: 'checkout' }, endedAt: null },
    ]);
    assert.ok(named('NoErrors')[0]?.endedAt);
    const listed = await service.admin('GET', '/rule-groups');
    assert.ok(!listed.text.includes('preview'));
    const bad = await service.admin('POST', path, { rules, step: '5' });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /must be a duration such as 30s/);
    const long = await service.admin('POST', path, { rules, step: '1s' });
    assert.equal(long.status, 400);
    assert.match(long.text, /cannot preview 8640[01] evaluations .* at most 1500/);
  });

  test('a file with a fault changes nothing and names its place', async () => {
    const { streamId } = service.quickstart;
    const rules = 'groups:\n- name: new\n  rules:\n  - {alert: A, expr: "up ="}\n';
    const answer = await service.admin('PUT', `/streams/${streamId}/rule-groups`, { rules });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /4:22: expr: 1:4: parse error/);
    const listed = await service.admin('GET', '/rule-groups');
    const names = listed
      .json<{ ruleGroups: { name: string }[] }>()
      .ruleGroups.map(({ name }) => name);
    assert.deepEqual(names, ['broken', 'jobs', 'logs']);
  });

  test('a deleted group has no alerts', async () => {
    const { streamId } = service.quickstart;
    const path = `/streams/${streamId}/rule-groups/broken`;
    const { rules } = (await service.admin('GET', path)).json<{ rules: string }>();
    assert.match(rules, /^groups:\n {2}- name: broken\n/);
    assert.equal(rules.match(/- name:/g)?.length, 1);
    assert.equal((await service.admin('DELETE', path)).status, 204);
    assert.equal((await service.admin('DELETE', path)).status, 404);
    assert.equal((await service.admin('GET', path)).status, 404);
    assert.ok((await alerts()).every(({ labels }) => labels['rule'] !== 'Twins'));
  });

  test('rules that were changed meanwhile are not overwritten', async () => {
    const path = `/streams/${service.quickstart.streamId}/rule-groups`;
    const rules = 'groups: [{ name: contested, rules: [] }]';
    const put = (tag: string) => service.admin('PUT', path, { rules }, { 'if-match': tag });
    const before_ = await service.admin('GET', path);
    const tag = before_.headers.etag!;
    assert.equal(tag, `"${before_.json<{ version: string }>().version}"`);
    // Of two at once one is first.
    const both = await Promise.all([put(tag), put(tag)]);
    assert.deepEqual(both.map(({ status }) => `${status}`).sort(), ['200', '412']);
    const refused = await put(`"other", ${tag}`);
    assert.equal(refused.status, 412, refused.text);
    assert.partialDeepStrictEqual(refused.json(), {
      code: 'precondition_failed',
      parameter: 'If-Match',
    });
    const now = (await service.admin('GET', path)).headers.etag!;
    assert.equal((await put(`"other", ${now}`)).status, 200);
    const anyVersion = Array.from({ length: 8 }, (_, i) => {
      const changed = `groups: [{ name: contested, interval: ${i + 1}m, rules: [] }]`;
      return service.admin('PUT', path, { rules: changed }, { 'if-match': '*' });
    });
    for (const { status } of await Promise.all(anyVersion)) assert.equal(status, 200);
    const check = await service.admin('POST', '/rule-groups/check', {
      rules: 'groups:\n- name: a # b\n- interval: 1m\n  name: c\n- { name: d }\n',
    });
    assert.deepEqual(check.json(), { groups: 3, rules: 0, groupNames: ['a', 'c', 'd'] });
    const group = `${path}/contested`;
    const remove = (of: string) => service.admin('DELETE', group, undefined, { 'if-match': of });
    assert.equal((await remove(now)).status, 412);
    const own = (await service.admin('GET', group)).headers.etag!;
    assert.equal((await remove(own)).status, 204);
    assert.equal((await remove(own)).status, 404);
  });

  test('series of a deleted group end with it', async () => {
    await applyRules(
      service,
      `
groups:
- name: going
  interval: 1s
  rules:
  - { record: going:one, expr: vector(1) }
  - { alert: Going, expr: vector(1) }
`,
    );
    const counted = { query: 'count(going:one) + count({alertname="Going"})' };
    const found = async () => (await ask<{ result: unknown[] }>('query', counted)).result.length;
    await until(async () => (await found()) === 1, { what: 'the series of the group' });
    const { streamId } = service.quickstart;
    const ended = await service.admin('DELETE', `/streams/${streamId}/rule-groups/going`);
    assert.equal(ended.status, 204, ended.text);
    const each = { query: '{__name__=~"going:one|ALERTS|ALERTS_FOR_STATE",alertname=~"|Going"}' };
    await until(async () => (await ask<{ result: unknown[] }>('query', each)).result.length === 0, {
      what: 'the end of the series',
    });
  });

  test('a message that did not occur before is an alert, also in a preview', async () => {
    const earlier = new Date(Date.now() - 600_000).toISOString();
    const events = [
      { message: 'user 17 signed in', timestamp: earlier },
      { message: 'user 18 signed in' },
      { message: 'disk sda1 failed at sector 77' },
      { message: 'disk sda2 failed at sector 78' },
    ];
    const rules = `
groups:
- name: patterns
  type: logs
  interval: 1s
  rules:
  - alert: NewPattern
    query: service:patterns
    stat: new_patterns
    window: 5m
    baseline: 1h
    annotations: { summary: '{{ $value }} of {{ $labels.pattern }}' }
`;
    const sent = events.map((event) => ({ ...event, service_name: 'patterns' }));
    assert.equal((await service.postLogs(sent)).status, 202);
    await applyRules(service, rules);
    const { labels, value, annotations } = await alertIn('firing', 'NewPattern');
    assert.match(labels['pattern'] ?? '', /^disk <\w+> failed at sector <number>$/);
    assert.equal(value, '2e+00');
    assert.equal(annotations['summary'], `2 of ${labels['pattern'] ?? ''}`);
    assert.match(annotations['sample_log'] ?? '', /^disk sda\d failed at sector 7\d$/);
    const { logs } = await service.list({ query: annotations['logs_query'] ?? '' });
    assert.deepEqual(logs.map(({ message }) => message).sort(), [
      'disk sda1 failed at sector 77',
      'disk sda2 failed at sector 78',
    ]);
    const named = (await alerts()).filter((one) => one.labels['alertname'] === 'NewPattern');
    assert.equal(named.length, 1);
    const path = `/streams/${service.quickstart.streamId}/rule-groups/preview`;
    // At the interval of the group, so that the evaluation that raised the alert is one of these.
    const sinceTime = new Date(Date.now() - 10_000).toISOString();
    const answer = await service.admin('POST', path, { rules, sinceTime, step: '1s' });
    assert.equal(answer.status, 200, answer.text);
    const { alerts: previewed } = answer.json<{ alerts: Pick<Alert, 'labels'>[] }>();
    assert.equal(previewed.at(-1)?.labels['pattern'], labels['pattern']);
  });

  test('data that arrives after its evaluation is counted, with its delay', async () => {
    await applyRules(
      service,
      `
groups:
- name: late-samples
  interval: 1s
  rules:
  - { record: late:count, expr: count(late) }
- name: late-logs
  type: logs
  interval: 1s
  rules:
  - { alert: Late, query: 'service:late', window: 10m, condition: '> 1000' }
`,
    );
    interface Group {
      readonly name: string;
      readonly lastEvaluation: string;
      readonly late?: { readonly seconds: number };
    }
    const groupOf = async (name: string) =>
      (await ask<{ groups: Group[] }>('rules')).groups.find((one) => one.name === name);
    for (const name of ['late-samples', 'late-logs']) {
      await until(async () => Date.parse((await groupOf(name))?.lastEvaluation ?? '') > 0, {
        what: `${name} to be evaluated`,
      });
    }
    const send = async () => {
      const earlierMs = Date.now() - 30_000;
      await push(`late 1 ${earlierMs}\n`);
      const timestamp = new Date(earlierMs).toISOString();
      const log = { message: 'late', service_name: 'late', timestamp };
      assert.equal((await service.postLogs([log])).status, 202);
    };
    for (const name of ['late-samples', 'late-logs']) {
      // Sent again, since data that is stored later than the next evaluation is not counted.
      const isTold = async () => {
        await send();
        return ((await groupOf(name))?.late?.seconds ?? 0) >= 30;
      };
      await until(isTold, { what: `late data of ${name}`, everyMs: 100 });
    }
    assert.ok(((await service.metric('weir_rules_late_rows_total')) ?? 0) >= 2);
  });
});
