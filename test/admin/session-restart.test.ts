/** The first sign-in of the explorer, and sessions over a restart of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../harness/browser.ts';
import { startService } from '../harness/service.ts';

test('the printed link begins a session that survives restarts and kills', async () => {
  const service = await startService();
  try {
    const browser = openBrowser(service);
    const [, code = ''] = /\/#sign-in=(wrl_\w+)/.exec(service.process.stdout()) ?? [];
    await browser.signIn(code);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await service.kill(signal);
      await service.start();
      const answer = await browser.send('GET', '/api/v1/admin/whoami');
      assert.equal(answer.status, 200, `after ${signal}: ${answer.text}`);
    }
  } finally {
    await service.stop();
  }
});
