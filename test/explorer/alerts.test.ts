/** The alerts page: from a search to a rule, active alerts, history, editing, notifiers. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { IssuedToken } from '../harness/control.ts';
import { pushText, readMetrics } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, signIn, startExplorer } from './explorer.ts';

const skip = missingBrowser() ?? false;

suite('alerts', { skip }, () => {
  let explorer: Explorer;
  before(async () => {
    explorer = await startExplorer();
    const { service } = explorer;
    // Before the last whole minute, the step of a preview over an hour.
    const timestamp = new Date(Date.now() - 120_000).toISOString();
    await service.postLogs(
      Array.from({ length: 12 }, (_, at) => ({
        message: `payment ${at} failed`,
        severity: 'ERROR',
        service_name: 'shop',
        timestamp,
      })),
    );
    await pushText(service, 'jobs_failing{job="<b>backup"} 3\n');
    await saveJobs('1s');
  });
  after(() => explorer.close());

  async function saveJobs(interval: string): Promise<void> {
    const rules = `
groups:
- name: jobs
  interval: ${interval}
  rules:
  - alert: JobsFailing
    expr: jobs_failing > 0
    labels: { severity: page }
    annotations: { summary: '{{ $value }} of {{ $labels.job }}' }
  - alert: Broken
    expr: jobs_failing * on () (jobs_failing or label_replace(jobs_failing, "x", "1", "", ""))
`;
    const path = `/streams/${explorer.service.quickstart.streamId}/rule-groups`;
    const answer = await explorer.service.admin('PUT', path, { rules });
    assert.equal(answer.status, 200, answer.text);
  }

  test('a search becomes a rule, which is checked, previewed and saved', async () => {
    const { page, close } = await explorer.open('/explore/logs?query=service:shop+severity:error');
    await page.getByText('payment 3 failed').waitFor();
    await page.getByRole('link', { name: 'Alert from this search' }).click();
    await page.getByRole('heading', { name: 'New rules' }).waitFor();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('query: "service:shop severity:error"').waitFor();

    await editor.getByText("condition: '> 10'").click();
    await page.keyboard.press('End');
    await page.keyboard.type(' x');
    await page
      .getByRole('alert')
      .getByText(/^line 10: /)
      .waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
    await assertAccessible(page, 'the editor with a fault');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.getByRole('alert').waitFor({ state: 'detached' });

    await page.getByLabel('Preview over').selectOption('1h');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/1 alert, of which 1 fired/).waitFor();
    await page.getByRole('list', { name: 'Alerts of the preview' }).waitFor();
    await assertAccessible(page, 'a preview');
    const outdated = page.getByText('The rules have changed since this preview.');
    await editor.getByText("condition: '> 10'").click();
    await page.keyboard.press('End');
    await page.keyboard.type(' ');
    await outdated.waitFor();
    await page.keyboard.press('Backspace');
    await outdated.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'service:shop severity:error' }).waitFor();
    await page.getByText('count of service:shop severity:error over 5m > 10').waitFor();
    await page.getByRole('link', { name: 'Logs', exact: true }).last().click();
    await page.getByText('payment 3 failed').waitFor();
    await close();
  });

  test('rules can be saved after the service was away while they were written', async () => {
    const { page } = await explorer.open('/alerts/edit');
    const editor = page.getByRole('textbox', { name: 'Rules' });
    const isCheck = /rule-groups\/check$/;
    await page.route(isCheck, (route) => route.abort());
    await editor.getByText('up == 0').click();
    await page.keyboard.press('End');
    await page.keyboard.type('0');
    const reason = page.getByRole('alert').getByText('cannot reach Weir');
    await reason.waitFor();
    await page.unroute(isCheck);
    await reason.waitFor({ state: 'detached' });
    assert.ok(await page.getByRole('button', { name: 'Save' }).isEnabled());
    // The browser reports the failed calls.
    await page.context().close();
  });

  test('a query of metrics becomes a rule', async () => {
    const query = 'sum by (job) (jobs_failing) # all';
    const { page, close } = await explorer.open(`/explore/metrics?q=${encodeURIComponent(query)}`);
    await page.getByRole('link', { name: 'Alert from query A' }).click();
    await page.getByRole('heading', { name: 'New rules' }).waitFor();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('expr: "sum by (job) (jobs_failing) > 0"').waitFor();
    await close();
  });

  test('active alerts lead to their history', async () => {
    const { page, close } = await explorer.open('/alerts');
    await page.getByRole('link', { name: 'JobsFailing' }).waitFor();
    await page.getByText('3 of <b>backup').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const title = page.getByRole('rowheader', { name: 'JobsFailing' });
    const [name, labels] = await Promise.all([
      title.getByRole('link').boundingBox(),
      title.getByText('job=').boundingBox(),
    ]);
    assert.ok(name && labels && labels.y >= name.y + name.height / 2, 'labels are below the name');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'JobsFailing' }).click();
    await page.getByLabel('Time range').selectOption('1h');
    const rows = page.getByRole('list', { name: 'Alerts over time' }).getByRole('listitem');
    await until(
      async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return rows.getByText('JobsFailing').isVisible();
      },
      { what: 'the alert to be recorded' },
    );
    assert.match((await rows.first().textContent()) ?? '', /firing \d{4}-/);
    await page.getByRole('link', { name: 'All alerts' }).click();
    await rows.getByText('JobsFailing').waitFor();
    await close();
  });

  test('alerts with the same labels, of two streams, are rows of their own', async () => {
    const alertOf = (alertname: string, hour: number, state = 'pending') => ({
      labels: { alertname },
      annotations: {},
      state,
      activeAt: `2026-04-01T0${hour}:00:00Z`,
      value: '+Inf',
    });
    let alerts = [alertOf('Same', 3), alertOf('Other', 2), alertOf('Same', 1)];
    const { page, close } = await explorer.open('/explore/logs');
    await page.route('**/prometheus/api/v1/alerts', (route) =>
      route.fulfill({ json: { status: 'success', data: { alerts } } }),
    );
    await page.clock.install();
    await page.goto(`${explorer.service.quickstart.streamUrl}/alerts`);
    const rows = page.getByRole('table', { name: 'Active alerts' }).getByRole('row');
    await rows.nth(3).getByRole('cell', { name: '∞' }).waitFor();
    alerts = [alertOf('Same', 3), alertOf('Other', 2, 'firing'), alertOf('Same', 1)];
    await page.clock.fastForward(15_000);
    await page.getByRole('row', { name: /Other firing/ }).waitFor();
    assert.equal(await rows.count(), 4);
    await close();
  });

  test('the history of days has alerts of minutes', async () => {
    const from = Date.now() - 3 * 86_400_000 + 600_000;
    const samples = Array.from(
      { length: 10 },
      (_, minute) => `ALERTS{alertname="Blip",alertstate="firing"} 1 ${from + minute * 60_000}\n`,
    );
    assert.equal((await pushText(explorer.service, samples.join(''))).status, 202);
    const isReadable = async () =>
      (await readMetrics(explorer.service, { alertname: 'Blip' })).length > 0;
    await until(isReadable, { what: 'the samples' });
    const { page, close } = await explorer.open('/alerts?tab=history&alert=Blip');
    await page.getByLabel('Time range').selectOption('7d');
    const rows = page.getByRole('list', { name: 'Alerts over time' }).getByRole('listitem');
    await rows.getByText('Blip').waitFor();
    await close();
  });

  test('the history of one alert is not shown as that of another', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { page, close } = await explorer.open('/alerts');
    await page.route('**/query_range', async (route) => {
      const isOne = route.request().postData()?.includes('alertname') ?? false;
      if (!isOne) await released;
      const metric = { alertname: isOne ? 'One' : 'Other', alertstate: 'firing' };
      const result = [{ metric, values: [[Date.now() / 1000 - 600, '1']] }];
      await route.fulfill({ json: { status: 'success', data: { result } } });
    });
    await page.goto(`${explorer.service.quickstart.streamUrl}/alerts?tab=history&alert=One`);
    const rows = page.getByRole('list', { name: 'Alerts over time' }).getByRole('listitem');
    await rows.getByText('One').waitFor();
    await page.getByRole('link', { name: 'All alerts' }).click();
    await page.getByRole('status').getByText('Loading the history').waitFor();
    assert.equal(await rows.count(), 0);
    release();
    await rows.getByText('Other').waitFor();
    await close();
  });

  test('a reader who opens the notifiers sees the active alerts', async () => {
    const body = { type: 'access', name: 'reader', scopes: ['metrics:read'] };
    const { token } = (await explorer.service.admin('POST', '/tokens', body)).json<IssuedToken>();
    const { page, close } = await explorer.visit('/alerts?tab=notifiers');
    await signIn(page, token);
    await page.getByRole('tab', { name: 'Active', selected: true }).waitFor();
    await page.getByRole('link', { name: 'JobsFailing' }).waitFor();
    await close();
  });

  test('unsaved rules outlast a reload and another page, until they are discarded', async () => {
    const { page, close } = await explorer.open('/alerts?tab=rules');
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('jobs_failing > 0').click();
    await page.keyboard.press('End');
    await page.keyboard.type('7');
    const changed = editor.getByText('jobs_failing > 07');
    await changed.waitFor();
    await page.reload();
    await changed.waitFor();
    await page.getByRole('link', { name: 'All rules' }).click();
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    await changed.waitFor();
    await assertAccessible(page, 'restored rules');
    await page.getByRole('button', { name: 'Discard them' }).click();
    await changed.waitFor({ state: 'detached' });
    await page.reload();
    await editor.getByText('jobs_failing > 0').waitFor();
    assert.equal(await changed.count(), 0);
    await close();
  });

  test('rules that another has changed meanwhile are overwritten only on request', async () => {
    const { page, close } = await explorer.open('/alerts?tab=rules');
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    const save = page.getByRole('button', { name: 'Save', exact: true });
    const question = page.getByText('jobs was changed since you began to edit it.');
    const saveAfterAnother = async (interval: string) => {
      await editor.getByText('jobs_failing > 0').click();
      await page.keyboard.press('End');
      await page.keyboard.type('0');
      await saveJobs(interval);
      await save.click();
      await question.waitFor();
    };
    await saveAfterAnother('2s');
    await page.getByRole('button', { name: 'Discard mine' }).click();
    await editor.getByText('interval: 2s').waitFor();
    assert.equal(await question.count(), 0);
    await saveAfterAnother('3s');
    await page.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('jobs_failing > 00').waitFor();
    await page.getByText(/every 2s/).waitFor();
    await saveJobs('1s');
    await close();
  });

  test('rules that another saves at the same moment are not overwritten', async () => {
    const { page } = await explorer.open('/alerts?tab=rules');
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('jobs_failing > 0').click();
    await page.keyboard.press('End');
    await page.keyboard.type('0');
    let saves = 0;
    await page.route(/rule-groups$/, async (route) => {
      if (route.request().method() === 'PUT' && saves++ === 0) await saveJobs('2s');
      await route.continue();
    });
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await page.getByText('jobs was changed since you began to edit it.').waitFor();
    const force = page.getByRole('button', { name: 'Save mine' });
    assert.ok(await force.isEnabled());
    await editor.getByText('jobs_failing > 00').click();
    await page.keyboard.press('End');
    await page.keyboard.type(')');
    await page
      .getByRole('alert')
      .getByText(/^line /)
      .waitFor();
    assert.ok(await force.isDisabled());
    await page.getByRole('button', { name: 'Discard mine' }).click();
    await editor.getByText('interval: 2s').waitFor();
    await saveJobs('1s');
    // The browser reports the refused save.
    await page.context().close();
  });

  test('new rules do not replace those that another has made under their name', async () => {
    const { page, close } = await explorer.open('/alerts/edit');
    const rules = 'groups: [{ name: new group, rules: [] }]';
    await page.getByRole('textbox', { name: 'Rules' }).getByText('name: new group').waitFor();
    const path = `/streams/${explorer.service.quickstart.streamId}/rule-groups`;
    assert.equal((await explorer.service.admin('PUT', path, { rules })).status, 200);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('new group exists by now: saving replaces its rules.').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await page.getByRole('table', { name: 'Rules of new group' }).getByText('up == 0').waitFor();
    await explorer.service.admin('DELETE', `${path}/new%20group`);
    await close();
  });

  test('groups are known by their names in any form of YAML', async () => {
    const { page, close } = await explorer.open('/alerts/edit');
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('name: new group').click();
    await page.keyboard.press('End');
    const rename = async (name: string) => {
      await page.keyboard.press('Shift+Home');
      await page.keyboard.type(`- name: ${name} # mine`);
    };
    await rename('jobs');
    await page.getByText('Saving replaces the rules of jobs.').waitFor();
    await rename('late');
    await page.getByText('Saving replaces the rules of jobs.').waitFor({ state: 'detached' });
    const path = `/streams/${explorer.service.quickstart.streamId}/rule-groups`;
    const rules = 'groups: [{ name: late, rules: [] }]';
    assert.equal((await explorer.service.admin('PUT', path, { rules })).status, 200);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('late exists by now: saving replaces its rules.').waitFor();
    await explorer.service.admin('DELETE', `${path}/late`);
    await close();
  });

  test('a save that a proxy refuses each time ends with its error', async () => {
    const { page } = await explorer.open('/alerts?tab=rules');
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    await page.getByRole('textbox', { name: 'Rules' }).getByText('jobs_failing > 0').waitFor();
    await page.route(/rule-groups$/, (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 412 }) : route.continue(),
    );
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Weir answered 412').waitFor();
    // The browser reports the refused saves.
    await page.context().close();
  });

  test('a group that another has changed meanwhile is not deleted', async () => {
    const { page } = await explorer.open('/alerts?tab=rules');
    const isRead = page.waitForResponse(/rule-groups\/jobs$/);
    await page.getByRole('button', { name: 'Delete jobs' }).click();
    await isRead;
    await saveJobs('2s');
    await page.getByRole('button', { name: 'Delete rules' }).click();
    await page.getByText('jobs was changed since you began to delete it').waitFor();
    await saveJobs('1s');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'jobs', exact: true }).waitFor();
    // The browser reports the refused deletion.
    await page.context().close();
  });

  test('unsaved rules of a deleted group outlast a reload, and make it again', async () => {
    const { page } = await explorer.open('/alerts?tab=rules');
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('jobs_failing > 0').click();
    await page.keyboard.press('End');
    await page.keyboard.type('9');
    const changed = editor.getByText('jobs_failing > 09');
    await changed.waitFor();
    const path = `/streams/${explorer.service.quickstart.streamId}/rule-groups/jobs`;
    assert.equal((await explorer.service.admin('DELETE', path)).status, 204);
    await page.reload();
    await changed.waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('jobs was deleted since you began to edit it.').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await page.getByRole('table', { name: 'Rules of jobs' }).getByText('> 09').waitFor();
    assert.equal((await explorer.service.admin('DELETE', path)).status, 204);
    await page.goBack();
    await page.getByText('cannot find jobs').waitFor();
    await saveJobs('1s');
    // The browser reports reads of a group that is not there.
    await page.context().close();
  });

  test('a group is edited under its name, and deleted', async () => {
    const { page, close } = await explorer.open('/alerts?tab=rules');
    await page.getByText('failing', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Edit jobs' }).click();
    const editor = page.getByRole('textbox', { name: 'Rules' });
    await editor.getByText('jobs_failing > 0').click();
    await page.keyboard.press('End');
    await page.keyboard.type('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('jobs_failing > 00').waitFor();
    await page.getByRole('button', { name: 'Delete jobs' }).click();
    await page.getByRole('button', { name: 'Delete rules' }).click();
    await page.getByRole('heading', { name: 'jobs', exact: true }).waitFor({ state: 'detached' });
    await close();
  });

  test('notifiers are created with faults in place, and deleted', async () => {
    const { page, close } = await explorer.open('/alerts?tab=notifiers');
    await page.getByRole('button', { name: 'New notifier' }).click();
    await page.getByLabel('Name').fill('on-call');
    await page.getByLabel('Kind').selectOption('webhook');
    await page.getByLabel('Address').fill('hooks');
    await page.getByRole('button', { name: 'Create notifier' }).click();
    await page.getByText(/must be a URL/).waitFor();
    await page.getByLabel('Address').fill('https://hooks.example.com/alerts');
    await page.getByLabel('Secret').fill('pepper');
    await page.getByRole('button', { name: 'Create notifier' }).click();
    await page.getByRole('row', { name: /on-call .*never never/ }).waitFor();
    await assertAccessible(page, 'the notifiers');
    await page.getByRole('button', { name: 'Delete on-call' }).click();
    await page.getByRole('button', { name: 'Delete notifier' }).click();
    await page.getByText('No notifiers yet').waitFor();
    await close();
  });

  test('a rule about one stream is a rule of that stream, and leads to its logs', async () => {
    const body = { name: 'another', retentionDays: 7 };
    const made = await explorer.service.admin('POST', '/streams', body);
    const { streamId } = made.json<{ streamId: string }>();
    const { page, close } = await explorer.open(`/explore/logs?query=refund&streamId=${streamId}`);
    await page.getByRole('link', { name: 'Alert from this search' }).click();
    assert.equal(await page.getByLabel('Stream').locator('option:checked').innerText(), 'another');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('stream another, every 1m').waitFor();
    const link = page.getByRole('table', { name: /refund/ }).getByRole('link', { name: 'Logs' });
    const search = new URL((await link.getAttribute('href'))!, page.url()).searchParams;
    assert.equal(search.get('streamId'), streamId);
    await close();
  });

  test('rules of an account without streams need a stream first', async () => {
    const { page, close } = await explorer.open('/alerts');
    const isList = (url: URL) => url.pathname === '/api/v1/admin/streams';
    await page.route(isList, (route) => route.fulfill({ json: { streams: [] } }));
    await page.goto(`${explorer.service.quickstart.streamUrl}/alerts/edit`);
    await page.getByRole('heading', { name: 'No streams yet' }).waitFor();
    await close();
  });
});
