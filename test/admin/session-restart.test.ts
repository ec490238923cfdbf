/** Sessions of the explorer over a restart of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../harness/browser.ts';
import { startService } from '../harness/service.ts';

test('a session survives a restart, also of a killed service', async () => {
  const service = await startService();
  try {
    const browser = openBrowser(service);
    await browser.signIn();
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
