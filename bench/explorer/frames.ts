/** Frame times of a page, from its animation frames. */
import type { Page } from 'playwright-core';
import { type Percentiles, percentilesOf } from '../percentiles.ts';

export interface FrameFigures {
  readonly ms: Percentiles;
  /** Frames longer than 50 ms. */
  readonly slow: number;
  /** Longest task, ms; the browser reports those from 50 ms. */
  readonly longestTaskMs: number;
}

interface Meter {
  frames: number[];
  tasks: number[];
}

const slowMs = 50.5;

/** Once per page, before the first measurement. */
export async function installMeter(page: Page): Promise<void> {
  await page.evaluate(() => {
    const meter: Meter = { frames: [], tasks: [] };
    Object.assign(globalThis, { meter });
    let last = performance.now();
    const tick = (now: number) => {
      meter.frames.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) meter.tasks.push(duration);
    }).observe({ entryTypes: ['longtask'] });
  });
}

export async function measureFrames(
  page: Page,
  action: () => Promise<unknown>,
): Promise<FrameFigures> {
  await takeMeter(page);
  await action();
  const { frames, tasks } = await takeMeter(page);
  return {
    ms: percentilesOf(frames),
    slow: frames.filter((ms) => ms > slowMs).length,
    longestTaskMs: Math.max(0, ...tasks),
  };
}

function takeMeter(page: Page): Promise<Meter> {
  return page.evaluate(() => {
    const { meter } = globalThis as unknown as { meter: Meter };
    const taken = { frames: meter.frames, tasks: meter.tasks };
    meter.frames = [];
    meter.tasks = [];
    return taken;
  });
}
