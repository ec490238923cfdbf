/** Settings, commands, anchors and files that documentation and deploy/ mention exist. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandNames, createProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/settings.ts';
import { captureTerminal } from '../cli/captured-terminal.ts';
import { mentionsOf, readFiles, readText, readYaml, repository, unknownOf } from './files.ts';

const settings = listSettings();
const docs = readFiles('docs/**/*.md');
const runbook = readFiles('docs/runbook*.md');
const all = [...docs, ...readFiles('deploy/**/*'), ...readFiles('README.md')];

/** Variables of commands and tests. */
const otherVariables =
  /^WEIR_(CONFIG|URL|TOKEN|ACCOUNT|CA_FILE|RECEIVER_URL|INGEST_TOKEN|OPS_URL)$/;

test('every WEIR_ variable is a setting', () => {
  const known = new Set(settings.map(({ environment }) => environment));
  const mentions = mentionsOf(all, /\bWEIR_[A-Z][A-Z_]*[A-Z]\b/g);
  assert.ok(mentions.size > 10);
  assert.deepEqual(
    unknownOf(mentions, (name) => known.has(name) || otherVariables.test(name)),
    [],
  );
});

test('every flag of weir serve is a setting', () => {
  const known = new Set(['--config', '--help', ...settings.map(({ flag }) => flag)]);
  const starts = mentionsOf(all, /\bweir serve [^`\n|&]*/g);
  const files = [...starts].flatMap(([text, paths]) => paths.map((path) => ({ path, text })));
  const flags = mentionsOf(files, /(?<=\s)--[a-z-]+/g);
  assert.ok(flags.size > 0);
  assert.deepEqual(
    unknownOf(flags, (flag) => known.has(flag)),
    [],
  );
});

test('every key of a section is a setting', () => {
  const known = new Set(settings.map(({ key }) => key));
  const sections = [...new Set(settings.flatMap(({ path }) => (path.length > 1 ? path[0]! : [])))];
  // `directory.db` and `alerts.yaml` are files.
  const key = new RegExp(
    `(?<=\`)(?:${sections.join('|')})\\.(?!(?:db|yaml)\\b)[a-z][A-Za-z]+(?=[\` ])`,
    'g',
  );
  const mentions = mentionsOf(docs, key);
  assert.ok(mentions.size > 10);
  assert.deepEqual(
    unknownOf(mentions, (name) => known.has(name)),
    [],
  );
});

test('commands in the documentation exist, with these options', async () => {
  const program = await createProgram(captureTerminal(), commandNames);
  const pages = [...docs, ...readFiles('README.md')];
  const mentions = mentionsOf(pages, /(?<=^|[`\s])weir (?:-- )?[a-z]+[^`\n|&()]*/gm);
  const lines = [...mentions.keys()].map((line) => line.replace(/^weir -- /, 'weir '));
  const commands = lines.filter((line) => isCommand(program, line));
  assert.ok(commands.length > 10);
  assert.deepEqual(
    commands.flatMap((line) => unknownParts(program, line)),
    [],
  );
});

/** `weir` also begins other phrases, such as names of services. */
function isCommand(program: Command, line: string): boolean {
  const [, name] = line.split(/\s+/);
  return program.commands.some((command) => command.name() === name) && name !== 'serve';
}

function unknownParts(program: Command, line: string): string[] {
  const words = line.replace(/#.*/, '').trim().split(/\s+/).slice(1);
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
  }
  const isWhole = command.commands.length === 0 || words.length === 1;
  const options = [...program.options, ...command.options].map(({ long }) => long);
  const known = new Set(['--', '--help', ...options]);
  const wrong = words.filter((word) => word.startsWith('--') && !known.has(word));
  return [...(isWhole ? [] : [`${line}: no such command`]), ...wrong.map((o) => `${line}: ${o}`)];
}

test('each alert names an entry of the runbook', () => {
  const text = runbook.map((page) => page.text).join('\n');
  const anchors = new Set((text.match(/^## .+$/gm) ?? []).map(toAnchor));
  const { groups } = readYaml<Alerts>('deploy/prometheus/alerts.yaml');
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    assert.ok(anchors.has(annotations.runbook), `${alert} leads to ${annotations.runbook}`);
    assert.ok(text.includes(alert), `${alert} is not in the runbook`);
  }
});

test('log lines and errors that the runbook quotes are in the source', () => {
  const parts = readFiles('src/**/!(*.test).ts').map(({ text }) => text);
  // Strings of several lines as one, and their variable parts as the runbook writes them.
  const source = parts
    .join('\n')
    .replaceAll(/['`] \+\n\s*['`]/g, '')
    .replaceAll(/\$\{[^}]*\}/g, '…');
  const begins = 'cannot|certificate|closing|drain|engine|queue|removed|store|the';
  const line = new RegExp(`(?<=\`)(?:${begins})(?: [^\\s\`]+){2,}(?=\`)`, 'g');
  const mentions = mentionsOf(runbook, line);
  assert.ok(mentions.size > 15);
  const isQuoted = (text: string) => text.split('…').every((part) => source.includes(part));
  assert.deepEqual(unknownOf(mentions, isQuoted), []);
});

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly { alert: string; annotations: { runbook: string } }[];
  }[];
}

test('links between pages resolve', () => {
  for (const { path, text } of readFiles('{*.md,docs/**/*.md,bench/README.md}')) {
    for (const [, target = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g)) {
      const file = target === '' ? path : join(dirname(path), target);
      assert.ok(existsSync(join(repository, file)), `${path} links to ${target}`);
      if (anchor === undefined) continue;
      const anchors = (readText(file).match(/^#+ .+$/gm) ?? []).map(toAnchor);
      assert.ok(anchors.includes(anchor.slice(1)), `${path} links to ${target}${anchor}`);
    }
  }
});

test('files that CONTRIBUTING.md names exist', () => {
  const text = readText('CONTRIBUTING.md');
  const paths = text.match(/(?<![\w/])(?:src|test|docs|scripts|openapi|\.ci)\/[\w.*/-]*\w/g) ?? [];
  assert.ok(paths.length > 5);
  const missing = paths.filter((path) => globSync(path, { cwd: repository }).length === 0);
  assert.deepEqual(missing, []);
});

/** As GitHub makes them. */
function toAnchor(heading: string): string {
  const text = heading.replace(/^#+ /, '').toLowerCase();
  return text.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-');
}
