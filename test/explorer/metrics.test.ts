/** The metrics page: find, build, write, draw, zoom, and the links to logs and back. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { pushText } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import { assertAccessible } from './accessible.ts';
import { type Explorer, missingBrowser, startExplorer } from './explorer.ts';

const skip = missingBrowser() ?? false;

/** An hour of a gauge with markup in a label, a counter of 600 a minute, and a histogram. */
function exposition(): string {
  const now = Date.now();
  const families = ['level_m', 'turns_total', 'rpc_seconds'].map((name) => [name, [] as string[]]);
  const [levels, turns, calls] = families.map(([, lines]) => lines as string[]);
  for (let minute = 0; minute < 60; minute += 1) {
    const at = now - (59 - minute) * 60_000 - 1000;
    for (const [index, site] of ['north', 'south', '<img src=x>'].entries()) {
      levels!.push(`level_m{site="${site}",dam="a"} ${Math.sin(minute / 9) + index} ${at}`);
    }
    turns!.push(`turns_total{dam="a",service="mill"} ${minute * 600} ${at}`);
    for (const [index, le] of ['0.1', '1', '+Inf'].entries()) {
      calls!.push(`rpc_seconds_bucket{le="${le}"} ${minute * 60 * (index + 1)} ${at}`);
    }
    calls!.push(`rpc_seconds_sum ${minute * 30} ${at}`, `rpc_seconds_count ${minute * 180} ${at}`);
  }
  return [
    '# HELP level_m Water above the sill',
    '# TYPE level_m gauge',
    ...levels!,
    '# TYPE turns_total counter',
    ...turns!,
    '# HELP rpc_seconds Time of calls',
    '# TYPE rpc_seconds histogram',
    ...calls!,
    '',
  ].join('\n');
}

suite('metrics', { skip }, () => {
  let explorer: Explorer;
  before(async () => {
    explorer = await startExplorer();
    const answer = await pushText(explorer.service, exposition());
    assert.equal(answer.status, 202, answer.text);
    const message = 'the wheel stands still';
    await explorer.service.postLogs([{ message, service_name: 'mill', host: 'river-1' }]);
    const { page, close } = await explorer.open('/explore/metrics');
    await until(
      async () => {
        await page.reload();
        await page.getByText(/metrics in this time|No metric has samples/).waitFor();
        return page.getByText('3 metrics in this time').isVisible();
      },
      { what: 'the metrics to be listed' },
    );
    await close();
  });
  after(() => explorer.close());

  test('finds a metric by its description and draws its series', async () => {
    const { page, close } = await explorer.open('/explore/metrics');
    await page.getByRole('searchbox', { name: 'Search metrics' }).fill('above the sill');
    await page.getByText('1 of 3 metrics').waitFor();
    await page.getByRole('link', { name: 'level_m' }).click();
    const chart = page.getByRole('slider', { name: 'Values over time: 3 of 3 series' });
    await chart.waitFor();
    await page.getByRole('checkbox', { name: 'Draw site <img src=x>' }).uncheck();
    await page.getByRole('slider', { name: 'Values over time: 2 of 3 series' }).waitFor();
    await page.getByRole('checkbox', { name: 'Axis from zero' }).check();
    await page.waitForURL(/axis=zero/);
    await assertTooltipFits(page);

    await page.getByRole('button', { name: 'Only site="north"' }).click();
    await page.getByRole('slider', { name: 'Values over time: 1 of 1 series' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('q'), 'level_m{site="north"}');
    const shared = await explorer.open(new URL(page.url()).pathname + new URL(page.url()).search);
    await shared.page.getByRole('slider', { name: 'Values over time: 1 of 1 series' }).waitFor();
    await shared.close();
    await page.goBack();
    await page.getByRole('slider', { name: /of 3 series/ }).waitFor();
    await close();
  });

  test('the builder writes PromQL, and reads it back as far as it can', async () => {
    const { page, close } = await explorer.open('/explore/metrics?q=');
    await page.getByLabel('Metric', { exact: true }).fill('turn');
    await page.getByRole('option', { name: /^turns_total/ }).click();
    const text = page.getByRole('textbox', { name: 'Query A' });
    await untilText(page, 'rate(turns_total[5m])');
    // 600 a minute.
    await page.getByRole('cell', { name: '10', exact: true }).first().waitFor();
    await page.getByLabel('Combine', { exact: true }).selectOption('sum');
    await page.getByLabel('By', { exact: true }).selectOption('dam');
    await page.getByLabel('Label', { exact: true }).selectOption('service');
    await page.getByLabel('Value of service').fill('mill');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByLabel('Series', { exact: true }).selectOption('topk 10');
    await untilText(page, 'topk(10, sum by (dam) (rate(turns_total{service="mill"}[5m])))');
    await page.getByLabel('Combine', { exact: true }).selectOption('max');
    await untilText(page, 'topk(10, max by (dam) (rate(turns_total{service="mill"}[5m])))');

    await write(text, 'turns_total - turns_total offset 10m');
    await text.press('Enter');
    await page.getByText('The builder has no form for this query').waitFor();
    await page.getByRole('cell', { name: '6K', exact: true }).first().waitFor();
    await write(text, 'increase(turns_total[15m])');
    await text.press('Enter');
    await until(
      async () => (await page.getByLabel('Over', { exact: true }).inputValue()) === '15m',
      {
        what: 'the builder to read the query',
      },
    );
    await write(text, 'sum(turns_total');
    await page.getByRole('alert').getByText('At position 16').waitFor();
    await write(text, 'rate(turns_total)');
    await text.press('Enter');
    await page.getByRole('alert').getByText('expected type range vector').waitFor();
    await close();
  });

  test('the editor completes names of metrics and labels', async () => {
    const { page, close } = await explorer.open('/explore/metrics?q=');
    const text = page.getByRole('textbox', { name: 'Query A' });
    await text.click();
    await text.pressSequentially('turns_t');
    await page.getByRole('option', { name: /turns_total/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await text.pressSequentially('{da');
    await page.getByRole('option', { name: 'dam' }).waitFor();
    await close();
  });

  test('several queries share a chart, and dragging narrows the range', async () => {
    const { page, close } = await explorer.open('/explore/metrics?q=level_m');
    await page.getByRole('button', { name: 'Add query' }).click();
    const second = page.getByRole('textbox', { name: 'Query B' });
    await write(second, 'rate(turns_total[5m])');
    await second.press('Enter');
    const chart = page.getByRole('slider', { name: 'Values over time: 4 of 4 series' });
    await chart.waitFor();
    await page.getByRole('checkbox', { name: 'Draw A site north' }).waitFor();
    const box = (await chart.boundingBox())!;
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*until=/);
    assert.ok(!(await page.getByRole('region', { name: /^Values at/ }).isVisible()));
    await page.getByRole('button', { name: 'Remove query B' }).click();
    await page.getByRole('slider', { name: 'Values over time: 3 of 3 series' }).waitFor();
    await close();
  });

  test('the title tells of a cut only if a query has more series than are shown', async () => {
    let found = 300;
    const { page, close } = await explorer.open('/explore/metrics');
    await page.route('**/query_range', async (route) => {
      const start = Number(new URLSearchParams(route.request().postData() ?? '').get('start'));
      const result = Array.from({ length: found }, (_, at) => ({
        metric: { at: `${at}` },
        values: [[start, '1']],
      }));
      await route.fulfill({ json: { status: 'success', data: { result } } });
    });
    await page.goto(`${explorer.service.quickstart.streamUrl}/explore/metrics?q=a&q=b`);
    await page.getByRole('heading', { name: /^600 series, / }).waitFor();
    found = 500;
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: /^The first 1,000 series, / }).waitFor();
    await close();
  });

  test('a new range keeps the chart, and what is chosen in it', async () => {
    const { page, close } = await explorer.open('/explore/metrics?q=level_m');
    await page.getByRole('button', { name: 'Draw only site north' }).click();
    const chart = page.getByRole('slider', { name: 'Values over time: 1 of 3 series' });
    await chart.waitFor();
    await page.getByRole('button', { name: 'Min' }).click();
    const shown: boolean[] = [];
    await page.route('**/query_range', async (route) => {
      shown.push(await chart.isVisible());
      await route.continue();
    });
    const answered = page.waitForResponse('**/query_range');
    await page.getByLabel('Time range').selectOption('3h');
    await (await answered).finished();
    await chart.waitFor();
    assert.deepEqual(shown, [true], 'the chart is there while the answer is read');
    await page.getByRole('columnheader', { name: 'Min ↓' }).waitFor();
    await close();
  });

  test('a refresh reads again, also within a step and after a fault', async () => {
    const { page, close } = await explorer.open('/explore/metrics?q=level_m&range=7d');
    await page.getByRole('slider', { name: 'Values over time: 3 of 3 series' }).waitFor();
    const refresh = page.getByRole('button', { name: 'Refresh', exact: false }).first();
    const answered = () => page.waitForResponse('**/query_range');
    await Promise.all([answered(), refresh.click()]);
    const text = page.getByRole('textbox', { name: 'Query A' });
    await write(text, 'level_m * on () level_m');
    await text.press('Enter');
    await page.getByRole('alert').getByText('duplicate series').waitFor();
    await Promise.all([answered(), text.press('Enter')]);
    await close();
  });

  test('a histogram is drawn as a heat map, by the keyboard too', async () => {
    const { page, close } = await explorer.open('/explore/metrics?metric=rpc_seconds_bucket');
    await page.getByLabel('Quantile', { exact: true }).selectOption('heat map');
    await untilText(page, 'sum by (le) (increase(rpc_seconds_bucket[5m]))');
    const map = page.getByRole('slider', { name: 'Heat map over time: 3 buckets' });
    await map.focus();
    await page.keyboard.press('End');
    // Units follow with the metadata.
    const isInUnits = async () =>
      /100 ms to 1 s: \d/.test((await map.getAttribute('aria-valuetext')) ?? '');
    await until(isInUnits, { what: 'the buckets in units' });
    await assertAccessible(page, 'a heat map');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: /^Values at/ }).waitFor();
    await page.getByRole('button', { name: 'Lines' }).click();
    await page.getByRole('slider', { name: 'Values over time: 3 of 3 series' }).waitFor();
    await page.getByLabel('Quantile', { exact: true }).selectOption('heat map');
    await map.waitFor();
    await close();
  });

  test('a point leads to its logs, and a log to the metrics of its service', async () => {
    const { page, close } = await explorer.open('/explore/metrics?metric=turns_total');
    const chart = page.getByRole('slider', { name: /^Values over time/ });
    await chart.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const values = page.getByRole('region', { name: /^Values at/ });
    await assertAccessible(page, 'the values at a time');
    await values.getByRole('link', { name: /^Logs of/ }).click();
    await page.getByText('the wheel stands still').click();
    assert.equal(new URL(page.url()).searchParams.get('query'), 'service:mill');
    await page.getByRole('link', { name: 'Metrics around this time' }).click();
    await page.getByRole('heading', { name: 'Metrics of service mill' }).waitFor();
    await page.getByText('No series has river-1').waitFor();
    await page.getByRole('link', { name: 'turns_total' }).first().click();
    await untilText(page, 'rate(turns_total{service="mill"}[5m])');
    await close();
  });
});

/** Deletes first: Chromium keeps the style of replaced text inline, which the policy reports. */
async function write(editor: Locator, text: string): Promise<void> {
  await editor.click();
  await editor.press('ControlOrMeta+a');
  await editor.press('Delete');
  await editor.pressSequentially(text);
}

async function untilText(page: Page, expected: string): Promise<void> {
  const text = page.getByRole('textbox', { name: 'Query A' });
  await until(async () => (await text.textContent()) === expected, {
    what: `the query to be ${expected}`,
  });
}

async function assertTooltipFits(page: Page): Promise<void> {
  for (const share of [0.4, 0.95]) {
    const chart = page.getByRole('slider', { name: /^Values over time/ });
    const { x, y, width } = (await chart.boundingBox())!;
    await page.mouse.move(x + width * share, y + 100);
    const spill = await page.waitForFunction(() => {
      const readout = document.querySelector('[class*=readout]');
      const frame = readout?.parentElement?.getBoundingClientRect();
      if (!readout || !frame) return undefined;
      const own = readout.getBoundingClientRect();
      const text = readout.scrollWidth - readout.clientWidth;
      const sides = [text, frame.left - own.left, own.right - frame.right];
      return { px: Math.max(...sides, own.bottom - frame.bottom) };
    });
    const { px } = (await spill.jsonValue())!;
    assert.ok(px <= 0, `at ${share} the tooltip spills by ${px} px`);
  }
}
