/** Templates of messages: their text, their variables, and that their queries find them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import type { Query } from '../query/parse.ts';
import { parseLogQuery } from '../query/parse.ts';
import { describe, maxMessageLength, type MessageGroup } from './describe.ts';
import { mineTemplates, type Template } from './mine.ts';
import { mask, variableRun } from './tokens.ts';
import { countTurns } from '../../test/harness/count-turns.ts';

/** Groups as the store makes them, with every message. */
function groupsOf(messages: readonly string[]): MessageGroup[] {
  const cut = messages.map((message) => Array.from(message).slice(0, maxMessageLength).join(''));
  const byMask = Map.groupBy(cut, (text) => text.replaceAll(new RegExp(variableRun, 'g'), mask));
  return [...byMask].map(([masked, texts]) => ({ masked, texts, count: texts.length }));
}

async function patternsOf(messages: readonly string[]) {
  const groups = groupsOf(messages);
  const templates = await mineTemplates(groups);
  const patterns = templates.map(async (template) => ({
    ...(await describe(template, groups)),
    texts: template.members.flatMap((member) => groups[member]!.texts),
  }));
  return Promise.all(patterns);
}

/** Whether a query of phrases and expressions, as templates have it, finds a message. */
function finds(query: Query, message: string): boolean {
  switch (query.kind) {
    case 'and':
      return query.items.every((item) => finds(item, message));
    case 'text':
      return message.toLowerCase().includes(query.pattern[0]!.toLowerCase());
    case 'field':
      assert.equal(query.test.op, 'regex');
      return RE2JS.compile(query.test.regex).matcher(message).find();
    default:
      return assert.fail(`a ${query.kind}`);
  }
}

const found = (query: string, message: string) => finds(parseLogQuery(query)!, message);

const messages = [
  'GET /api/orders/17 took 12ms status=200 user=anna',
  'GET /api/orders/9 took 130ms status=404 user=bob',
  'GET /api/orders/1021 took 7ms status=200 user=carl',
  'connection from 10.0.0.7:443 closed',
  'connection from 10.0.0.19:1024 closed',
  'cache is warm',
];

test('names what varies and counts its values', async () => {
  const patterns = await patternsOf(messages);
  assert.deepEqual(patterns.map(({ text }) => text).sort(), [
    'GET <path> took <duration> status=<status> user=anna',
    'GET <path> took <duration> status=<status> user=bob',
    'GET <path> took <duration> status=<status> user=carl',
    'cache is warm',
    'connection from <ip> closed',
  ]);
  const { variables } = patterns.find(({ text }) => text.startsWith('connection'))!;
  const values = ['10.0.0.7:443', '10.0.0.19:1024'].map((value) => ({ value, share: 0.5 }));
  assert.deepEqual(variables, [{ name: 'ip', values, distinct: 2 }]);
});

test('many words in one place are values of one template', async () => {
  const users = ['anna', 'bob', 'carl', 'dora', 'emil', 'fay'];
  const [pattern, ...others] = await patternsOf(users.map((user) => `${user} logged in, role=ops`));
  assert.deepEqual(others, []);
  assert.equal(pattern!.text, '<text> logged in, role=ops');
  assert.equal(pattern!.variables[0]!.distinct, users.length);
});

test('a few words in one place are templates', async () => {
  const lines = ['started', 'stopped'].flatMap((word) => [1, 2, 3].map((n) => `job ${n} ${word}`));
  const texts = (await patternsOf(lines)).map(({ text }) => text);
  assert.deepEqual(texts.sort(), ['job <number> started', 'job <number> stopped']);
});

test('two variables of one kind have different names', async () => {
  const [pattern] = await patternsOf(['moved 12 blocks in 40 steps']);
  assert.equal(pattern!.text, 'moved <number> blocks in <number2> steps');
});

test('the query of a template finds no message of another', async () => {
  const patterns = await patternsOf(messages);
  for (const { query, texts } of patterns) {
    const hits = messages.filter((message) => found(query, message));
    assert.deepEqual(hits, texts, query);
  }
});

test('the query of a message that was cut finds the whole message', async () => {
  const message = `error 5: ${'a long tale with many words '.repeat(40)}end 7`;
  const [pattern] = await patternsOf([message]);
  assert.match(pattern!.text, /…$/);
  assert.ok(found(pattern!.query, message), pattern!.query);
  assert.ok(pattern!.query.length < 4_000);
});

const word = fc.constantFrom('error', 'user', 'GET', 'closed', '/a/b', 'x=1', '"q"', 'Mon', '()');
const odd = fc.constantFrom('"', '\\', '/', '\n', '  ', 'ß', '(', '5 KB', '0.5', 'a.b.c:80', '[]');
const value = fc.oneof(fc.nat().map(String), fc.ipV4(), fc.uuid(), fc.string({ unit: 'grapheme' }));
const message = fc
  .array(fc.oneof({ arbitrary: word, weight: 4 }, odd, value), { maxLength: 12 })
  .chain((parts) => fc.constantFrom(' ', '', ': ').map((between) => parts.join(between)));

test('each message is in one template, whose query finds it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 40 }), async (texts) => {
      const patterns = await patternsOf(texts);
      assert.deepEqual(patterns.flatMap((pattern) => pattern.texts).sort(), texts.sort());
      for (const { query, texts: members } of patterns) {
        for (const member of members) assert.ok(found(query, member), `${query}: ${member}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('the values of a template, put in its text, are the message', async () => {
  await fc.assert(
    fc.asyncProperty(message, async (text) => {
      const [pattern] = await patternsOf([text]);
      const names = pattern!.variables.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      let rest = pattern!.text;
      for (const { name, values } of pattern!.variables) {
        assert.equal(values.length, 1);
        assert.ok(rest.includes(`<${name}>`), rest);
        rest = rest.replace(`<${name}>`, () => values[0]!.value);
      }
      if (!text.includes('<')) assert.equal(rest, text);
    }),
    { numRuns: 300 },
  );
});

test('lets other requests run while thousands of long messages are looked at', async () => {
  const wordOf = (i: number, at: number) => ((i >> (at % 10)) & 1 ? 'on' : 'off');
  const long = Array.from({ length: 600 }, (_, i) =>
    Array.from({ length: 100 }, (__, at) => wordOf(i, at)).join(' '),
  );
  const groups = groupsOf(long);
  const mining = mineTemplates(groups);
  // At 200 tokens of a message: once to find them, three times to compare them.
  assert.ok((await countTurns(() => mining)) > 10);
  const [{ columns }] = (await mining) as [Template];
  const all = { columns, members: [...groups.keys()] };
  assert.ok((await countTurns(() => describe(all, groups))) > 0);
});
