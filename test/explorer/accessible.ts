/** Checks a page with axe (WCAG 2 A and AA) for serious violations. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

interface Axe {
  run(context: Document, options: object): Promise<{ violations: readonly Violation[] }>;
}

/** @throws AssertionError with each finding and its element */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  // The page's CSP blocks scripts; the debugger protocol is exempt.
  await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    return (await axe.run(document, { runOnly, resultTypes: ['violations'] })).violations;
  });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const findings = serious.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`),
  }));
  assert.deepEqual(findings, [], what);
}
