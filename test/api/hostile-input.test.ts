/** Hostile requests: each has a defined answer, none is a 5xx, and the service keeps running. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { exchangeRaw, statusOf } from '../harness/raw.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(async () => {
  const answer = await service.postLogs({ message: 'still here' });
  assert.equal(answer.status, 202, answer.text);
  await service.stop();
});

suite('bodies', () => {
  const depth = 100_000;
  const cases: readonly (readonly [string, string | Uint8Array, readonly number[]])[] = [
    ['arrays nested 100,000 deep', '['.repeat(depth) + ']'.repeat(depth), [400]],
    [
      'labels nested 100,000 deep',
      `{"message":"a","labels":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`,
      [400],
    ],
    ['an open end 100,000 deep', '{"a":'.repeat(depth), [400]],
    ['__proto__ as a key', '{"message":"a","__proto__":{"x":1},"constructor":"y"}', [202]],
    ['__proto__ as a label', '{"message":"a","labels":{"__proto__":"x","toString":"y"}}', [202]],
    ['a lone surrogate', '{"message":"\\ud800 lone","labels":{"\\udfff":"\\ud800"}}', [202]],
    [
      'NUL in text, key and value',
      '{"message":"a\\u0000b","labels":{"k\\u0000":"\\u0000"}}',
      [202],
    ],
    ['a raw NUL', '{"message":"a\u0000b"}', [400]],
    ['invalid UTF-8', Buffer.from('{"message":"\xff"}', 'latin1'), [400]],
    ['1e999', '{"message":"a","labels":{"n":1e999},"timestamp":1e999}', [202, 400]],
    ['a byte order mark', '\ufeff{"message":"a"}', [202, 400]],
    [
      'a million keys',
      `{"message":"a",${Array.from({ length: 1e6 }, (_, i) => `"${i}":1`).join(',')}}`,
      [400, 413],
    ],
    ['ten MiB of empty objects', `[${'{},'.repeat(3_300_000)}{}]`, [400, 413]],
    ['a duplicate key', '{"message":"a","message":"b"}', [202]],
    ['a long key', `{"message":"a","labels":{"${'k'.repeat(1e6)}":"v"}}`, [202, 400]],
  ];
  for (const [name, body, statuses] of cases) {
    test(`${name}: ${statuses.join(' or ')}`, async () => {
      const { url, token } = service.quickstart.receivers.http_json;
      const answer = await service.http.send(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      });
      assert.ok(statuses.includes(answer.status), `${answer.status} ${answer.text.slice(0, 300)}`);
    });
  }

  test('unusual labels read back unchanged', async () => {
    const labels = {
      __proto__x: '1',
      constructor: '2',
      toString: '3',
      'a"b\\c\n': "'; --",
      '': '4',
    };
    const marker = 'strange labels';
    await service.postLogs(
      `{"message":"${marker}","labels":{"__proto__":"0",${JSON.stringify(labels).slice(1)}}`,
    );
    const found = await until(
      async () => (await service.list({ search: `"${marker}"` })).logs.at(0),
      { what: 'the log to be readable' },
    );
    const expected = new Map([
      ['', '4'],
      ['__proto__', '0'],
      ['__proto__x', '1'],
      ['a"b\\c\n', "'; --"],
      ['constructor', '2'],
      ['toString', '3'],
    ]);
    assert.deepEqual(new Map(Object.entries(found.labels)), expected);
  });
});

suite('raw requests that no client sends', () => {
  const lines = (...head: string[]) => `${head.join('\r\n')}\r\n\r\n`;
  const target = () => {
    const { url, token } = service.quickstart.receivers.http_json;
    const { pathname, host } = new URL(url);
    return { path: pathname, host: `Host: ${host}`, bearer: `Authorization: Bearer ${token}` };
  };
  const json = 'Content-Type: application/json';
  const chunk = '2\r\n{}\r\n0\r\n\r\n';
  const cases: readonly (readonly [string, () => string])[] = [
    [
      'Transfer-Encoding: gzip, chunked',
      () => {
        const { path, host, bearer } = target();
        const coding = 'Transfer-Encoding: gzip, chunked';
        return lines(`POST ${path} HTTP/1.1`, host, bearer, json, coding) + chunk;
      },
    ],
    [
      'two Host headers',
      () => {
        const { path, host, bearer } = target();
        const length = 'Content-Length: 15';
        const head = lines(`POST ${path} HTTP/1.1`, host, 'Host: evil', bearer, json, length);
        return `${head}{"message":"a"}`;
      },
    ],
    [
      'TRACE',
      () => {
        const { path, host, bearer } = target();
        return lines(`TRACE ${path} HTTP/1.1`, host, bearer);
      },
    ],
    [
      'HTTP/1.0 with chunks',
      () => {
        const { path, host, bearer } = target();
        const coding = 'Transfer-Encoding: chunked';
        return lines(`POST ${path} HTTP/1.0`, host, bearer, json, coding) + chunk;
      },
    ],
    [
      'Content-Length and chunks',
      () => {
        const { path, host, bearer } = target();
        const both = ['Content-Length: 2', 'Transfer-Encoding: chunked'];
        return lines(`POST ${path} HTTP/1.1`, host, bearer, json, ...both) + chunk;
      },
    ],
    ['no HTTP at all', () => 'hello\r\n\r\n'],
  ];
  for (const [name, send] of cases) {
    test(`${name}: 4xx`, async () => {
      const received = await exchangeRaw(service, { send: send() });
      const status = statusOf(received);
      assert.ok(status >= 400 && status < 500, received);
    });
  }
});
