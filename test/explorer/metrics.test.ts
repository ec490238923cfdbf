/** The metrics page: find, draw, filter, share. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { pushText } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import { type Explorer, missingBrowser, startExplorer } from './explorer.ts';

const skip = missingBrowser() ?? false;

suite('metrics', { skip }, () => {
  let explorer: Explorer;
  before(async () => {
    explorer = await startExplorer();
    const now = Date.now();
    const lines = Array.from({ length: 60 }, (_, minute) => {
      const at = now - (59 - minute) * 60_000 - 1000;
      const gauge = ['north', 'south', '<img src=x>'].map(
        (site, index) => `level_m{site="${site}",dam="a"} ${Math.sin(minute / 9) + index} ${at}`,
      );
      return [...gauge, `turns_total{dam="a"} ${minute * 600} ${at}`].join('\n');
    });
    const head = '# HELP level_m Water above the sill\n# TYPE level_m gauge\n';
    const answer = await pushText(explorer.service, `${head}${lines.join('\n')}\n`);
    assert.equal(answer.status, 202, answer.text);
  });
  after(() => explorer.close());

  test('finds a metric by a part of its name and draws its series', async () => {
    const { page, close } = await explorer.open('/explore/metrics');
    await until(
      async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        await page.getByLabel('Metric', { exact: true }).fill('evel');
        return page.getByRole('option', { name: 'level_m' }).isVisible();
      },
      { what: 'the metric to be offered' },
    );
    await page.getByRole('option', { name: 'level_m' }).click();
    await page.getByRole('img', { name: 'level_m over time: 3 series, 180 samples' }).waitFor();
    await page.getByText('Water above the sill').waitFor();
    await page.getByRole('checkbox', { name: 'Draw site <img src=x>' }).uncheck();
    await page.getByRole('img', { name: 'level_m over time: 2 series, 120 samples' }).waitFor();

    for (const share of [0.4, 0.95]) {
      const chart = page.getByRole('img', { name: /^level_m over time/ });
      const { x, y, width } = (await chart.boundingBox())!;
      await page.mouse.move(x + width * share, y + 100);
      const spill = await page.waitForFunction(() => {
        const readout = document.querySelector('[class*=readout]');
        const frame = readout?.parentElement?.getBoundingClientRect();
        if (!readout || !frame) return undefined;
        const own = readout.getBoundingClientRect();
        const text = readout.scrollWidth - readout.clientWidth;
        return { px: Math.max(text, frame.left - own.left, own.right - frame.right) };
      });
      const { px } = (await spill.jsonValue())!;
      assert.ok(px <= 0, `at ${share} the tooltip spills by ${px} px`);
    }

    await page.getByRole('button', { name: 'Only site="north"' }).click();
    await page.getByRole('img', { name: 'level_m over time: 1 series, 60 samples' }).waitFor();
    assert.match(page.url(), /label=site%3Anorth/);
    const shared = await explorer.open(new URL(page.url()).pathname + new URL(page.url()).search);
    await shared.page
      .getByRole('img', { name: 'level_m over time: 1 series, 60 samples' })
      .waitFor();
    await shared.close();
    await close();
  });

  test('draws a counter as a rate, and dragging narrows the range', async () => {
    const { page, close } = await explorer.open('/explore/metrics?metric=turns_total');
    const chart = page.getByRole('img', { name: /^turns_total over time: 1 series/ });
    await chart.waitFor();
    await page.getByRole('heading', { name: 'turns_total per second' }).waitFor();
    // 600 a minute.
    await page.getByRole('cell', { name: '10', exact: true }).waitFor();
    const box = await chart.boundingBox();
    assert.ok(box);
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*until=/);
    await page
      .getByRole('img', { name: /^turns_total over time: 1 series, \d samples|1\d samples/ })
      .waitFor();
    await page.keyboard.press('Escape');
    await close();
  });
});
