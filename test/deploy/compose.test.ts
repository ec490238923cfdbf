/** Consistency of compose.yaml and the Dockerfile. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readText, readYaml, repository } from './files.ts';

interface ComposeService {
  readonly restart?: string;
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly resources?: { readonly limits?: object } };
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: object;
  readonly networks: object;
  readonly secrets: object;
}

const compose = readYaml<Compose>('deploy/compose.yaml');
const services = Object.entries(compose.services);

test('every service restarts and has a health check and limits', () => {
  for (const [name, service] of services) {
    assert.equal(service.restart, 'unless-stopped', name);
    assert.ok(service.healthcheck, `${name} has no healthcheck`);
    assert.ok(service.deploy?.resources?.limits, `${name} has no limits`);
  }
});

test('references of services exist', () => {
  for (const [name, service] of services) {
    for (const other of Object.keys(service.depends_on ?? {})) {
      assert.ok(compose.services[other], `${name} waits for ${other}`);
    }
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0]!;
      const isThere = source.startsWith('./')
        ? existsSync(join(repository, 'deploy', source))
        : source in compose.volumes;
      assert.ok(isThere, `${name} mounts ${source}`);
    }
    for (const network of service.networks ?? []) assert.ok(network in compose.networks);
    for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets);
  }
});

test('make-secrets.sh writes every variable without a default', () => {
  const script = readText('deploy/make-secrets.sh');
  const names = readText('deploy/compose.yaml').matchAll(/\$\{([A-Z_]+)(?::\?|\})/g);
  for (const name of new Set(Array.from(names, (match) => match[1]!))) {
    assert.ok(new RegExp(`\\b${name}\\b`).test(script), `${name} is not in make-secrets.sh`);
  }
});

test('Weir is configured with the servers that run', () => {
  const nodes = services.filter(([, { environment }]) => environment?.['WEIR_ROLES']);
  const roles = nodes.map(([, { environment }]) => environment!['WEIR_ROLES']!);
  assert.deepEqual(roles.sort(), ['gateway', 'gateway', 'stream', 'writer', 'writer']);
  for (const [name, { environment = {} }] of nodes) {
    const urls = Object.entries(environment)
      .filter(([key]) => /^WEIR_(QUEUE|STORE|DIRECTORY|QUOTA)_URLS?$/.test(key))
      .flatMap(([, value]) => value.split(','));
    assert.equal(urls.length, 6, name);
    for (const url of urls) {
      const host = new URL(url).hostname;
      assert.ok(compose.services[host], `${name} refers to ${host}`);
    }
  }
});

test('the load balancer knows every node with a listener', () => {
  const config = readText('deploy/haproxy/haproxy.cfg');
  for (const [name] of services.filter(([one]) => /^(gateway|stream|clickhouse)/.test(one))) {
    assert.match(config, new RegExp(`server ${name} ${name}:\\d+`));
  }
});

test('files copied by the Dockerfile are in the tree and in its context', () => {
  const copies = readText('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  const sources = Array.from(copies, (match) => match[1]!.split(' ')).flat();
  const ignored = readText('.dockerignore').split('\n');
  for (const source of sources.filter((one) => one !== '.')) {
    assert.ok(existsSync(join(repository, source)), `${source} is not there`);
    const top = source.split('/')[0]!;
    assert.ok(ignored.includes(`!${top}`), `${top} is kept out by .dockerignore`);
  }
});
