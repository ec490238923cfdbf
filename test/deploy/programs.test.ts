/**
 * The programs that read these files accept them. Each test is skipped when its program is missing.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { missing } from '../senders/program.ts';
import { readText, repository } from './files.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();

/** Its output; fails unless the program exits with 0. */
function run(program: string, args: readonly string[], env: Record<string, string> = {}): string {
  const ended = spawnSync(program, args, {
    cwd: join(repository, 'deploy'),
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  const output = `${ended.stdout}${ended.stderr}`;
  assert.equal(ended.status, 0, `${program} ${args.join(' ')}:\n${output}`);
  return output;
}

/** Not in Debian, or too old there: never required. */
function lacks(program: string): string | false {
  const { error } = spawnSync(program, ['version'], { stdio: 'ignore' });
  return error === undefined ? false : `${program} is missing`;
}

test('promtool accepts the rules', { skip: missing('promtool', 'prometheus') }, () => {
  run('promtool', ['check', 'rules', 'prometheus/rules.yaml', 'prometheus/alerts.yaml']);
  run('promtool', ['test', 'rules', 'prometheus/tests.yaml', 'prometheus/tests-of-days.yaml']);
});

test('promtool accepts every query of the dashboard', {
  skip: missing('promtool', 'prometheus'),
}, () => {
  const dashboard = JSON.parse(readText('deploy/grafana/weir.json')) as {
    panels: readonly { title: string; targets?: readonly { expr: string }[] }[];
  };
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(queries.length > 30);
  const rules = queries.map((query, index) => ({
    record: `query:${index}`,
    expr: query.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'),
  }));
  const file = join(folder, 'queries.json');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  run('promtool', ['check', 'rules', '--lint=none', file]);
});

test('haproxy accepts its configuration', { skip: lacks('haproxy') }, () => {
  run('haproxy', ['-c', '-f', 'haproxy/haproxy.cfg']);
});

test('nats-server accepts its configuration', { skip: lacksSync() }, () => {
  const password = 'w0123456789abcdef';
  const route = (server: string) => `nats://route:${password}@${server}:6222`;
  const env = {
    SERVER_NAME: 'nats-1',
    NATS_PASSWORD: password,
    ROUTE_1: route('nats-1'),
    ROUTE_2: route('nats-2'),
    ROUTE_3: route('nats-3'),
  };
  run('nats-server', ['-t', '-c', 'nats/nats.conf'], env);
});

/** Debian 12 has 2.9, which does not know `sync_interval: always`. */
function lacksSync(): string | false {
  const { error, stdout } = spawnSync('nats-server', ['-v'], { encoding: 'utf8' });
  if (error !== undefined) return 'nats-server is missing';
  const minor = Number(/v2\.(\d+)/.exec(stdout)?.[1]);
  return minor >= 10 ? false : `nats-server is older than 2.10: ${stdout.trim()}`;
}

test('helm renders the chart in each mode', { skip: lacks('helm') }, () => {
  const chart = ['helm/weir', '--kube-version', '1.33.0'];
  const scaled = ['mode=scaled', 'secretName=s', 'tls.secretName=t', 'serviceMonitor.enabled=true'];
  const set = [...scaled, 'writer.autoscaling.enabled=true'].flatMap((value) => ['--set', value]);
  run('helm', ['lint', ...chart]);
  const single = run('helm', ['template', 'weir', ...chart]);
  const apart = run('helm', ['template', 'weir', ...chart, ...set]);
  assert.match(single, /^kind: StatefulSet$/m);
  assert.doesNotMatch(single, /WEIR_ROLES/);
  assert.equal(apart.match(/^kind: Deployment$/gm)?.length, 3);
  assert.doesNotMatch(apart, /^kind: StatefulSet$/m);
  // Otherwise the cluster sets variables named after services, which Weir refuses.
  assert.equal(apart.match(/enableServiceLinks: false/g)?.length, 3);
  const wrong = spawnSync('helm', ['template', 'weir', ...chart, '--set', 'mode=double'], {
    cwd: join(repository, 'deploy'),
  });
  assert.notEqual(wrong.status, 0);
});

test('systemd accepts the units', { skip: lacks('systemd-analyze') }, () => {
  cpSync(join(repository, 'deploy/systemd'), folder, { recursive: true });
  for (const [unit, name] of [
    ['weir.service', 'weir.service'],
    ['weir@.service', 'weir@gateway.service'],
  ] as const) {
    // The only complaint when the command is not installed.
    const text = readText(`deploy/systemd/${unit}`).replace('/usr/local/bin/weir', '/bin/true');
    writeFileSync(join(folder, name), text);
    assert.equal(run('systemd-analyze', ['verify', '--man=no', join(folder, name)]), '');
  }
});
