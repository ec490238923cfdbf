/** The JSON log path by the specification: sections 2, 4.1, 5 and 7. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { exchangeRaw, statusOf } from '../harness/raw.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

const event = { message: 'hello' };

suite('2: resources', () => {
  test('a receiver URL is {ingest_url}/v1/receivers/<receiverId>/logs', () => {
    const { ingestUrl, receivers } = service.quickstart;
    const { url, receiverId } = receivers.http_json;
    assert.equal(url, `${ingestUrl}/v1/receivers/${receiverId}/logs`);
  });

  test('one object is accepted as 1', async () => {
    const answer = await service.postLogs(event);
    assert.equal(answer.status, 202, answer.text);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
    assert.equal(answer.json<{ accepted: number }>().accepted, 1);
  });

  test('an array is accepted as the count of its objects', async () => {
    const answer = await service.postLogs([event, event, event]);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json<{ accepted: number }>().accepted, 3);
  });

  test('an empty array is accepted as 0', async () => {
    const answer = await service.postLogs([]);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json<{ accepted: number }>().accepted, 0);
  });

  test('rejects only the invalid element of an array, with its index and a reason', async () => {
    const answer = await service.postLogs([event, 7, { message: 1 }, event]);
    assert.equal(answer.status, 202, answer.text);
    const body = answer.json<{ accepted: number; rejected: { index: number; reason: string }[] }>();
    assert.equal(body.accepted, 2);
    assert.deepEqual(
      body.rejected.map(({ index }) => index),
      [1, 2],
    );
    assert.ok(body.rejected.every(({ reason }) => reason.length > 0));
  });
});

suite('4.1 rule 1: authentication completes before the body is read', () => {
  const head = (...lines: string[]) => {
    const { url } = service.quickstart.receivers.http_json;
    const { pathname, host } = new URL(url);
    const all = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, ...lines, '', ''];
    return all.join('\r\n');
  };
  const json = 'Content-Type: application/json';

  test('a sender with a bad token gets 401 without having sent a byte of the body', async () => {
    const received = await exchangeRaw(service, {
      send: head('Authorization: Bearer wri_wrong', json, 'Content-Length: 1000'),
    });
    assert.equal(statusOf(received), 401, received);
  });

  test('refuses a sender that expects 100-continue before it continues', async () => {
    const received = await exchangeRaw(service, {
      send: head(
        'Authorization: Bearer wri_wrong',
        json,
        'Content-Length: 1000',
        'Expect: 100-continue',
      ),
    });
    assert.equal(statusOf(received), 401, received);
  });

  test('sends 100-continue to a valid sender', async () => {
    const { token } = service.quickstart.receivers.http_json;
    const received = await exchangeRaw(service, {
      send: head(
        `Authorization: Bearer ${token}`,
        json,
        'Content-Length: 1000',
        'Expect: 100-continue',
      ),
    });
    assert.equal(statusOf(received), 100, received);
  });

  test('a refusal reaches a sender in the middle of a large body', async () => {
    const answer = await service.postLogs(`[${'{"message":"x"},'.repeat(200_000)}{}]`, {
      authorization: 'Bearer wri_wrong',
    });
    assert.equal(answer.status, 401, answer.text);
  });
});

suite('4.1 rule 2: other content types and encodings yield 415', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['application/json', { 'content-type': 'application/json' }, 202],
    ['charset utf-8', { 'content-type': 'application/json; charset=utf-8' }, 202],
    ['upper case', { 'content-type': 'Application/JSON; Charset="UTF-8"' }, 202],
    ['identity', { 'content-encoding': 'identity' }, 202],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }, 415],
    ['text', { 'content-type': 'text/plain' }, 415],
    ['protobuf', { 'content-type': 'application/x-protobuf' }, 415],
    ['a suffix', { 'content-type': 'application/vnd.weir+json' }, 415],
    ['an empty type', { 'content-type': '' }, 415],
    ['gzip', { 'content-encoding': 'gzip' }, 415],
    ['two encodings', { 'content-encoding': 'identity, gzip' }, 415],
    ['snappy', { 'content-encoding': 'snappy' }, 415],
  ];
  for (const [name, headers, status] of cases) {
    test(`${name}: ${status}`, async () => {
      const answer = await service.postLogs(event, headers);
      assert.equal(answer.status, status, answer.text);
    });
  }

  test('no content type: 415', async () => {
    const { url, token } = service.quickstart.receivers.http_json;
    const answer = await service.http.send(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(event),
    });
    assert.equal(answer.status, 415, answer.text);
  });

  test('a gzipped body is 415, not 400', async () => {
    const { url, token } = service.quickstart.receivers.http_json;
    const answer = await service.http.send(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(JSON.stringify(event)),
    });
    assert.equal(answer.status, 415, answer.text);
  });
});

suite('5: authentication of senders', () => {
  const send = (...headers: string[]) => {
    const { url } = service.quickstart.receivers.http_json;
    return service.http.send(url, {
      method: 'POST',
      headers: [...headers, 'Content-Type', 'application/json'],
      body: JSON.stringify(event),
    });
  };
  const token = () => service.quickstart.receivers.http_json.token;
  const cases: readonly (readonly [string, () => string[], number])[] = [
    ['one token', () => ['Authorization', `Bearer ${token()}`], 202],
    ['the scheme in lower case', () => ['authorization', `bearer ${token()}`], 202],
    ['the scheme in upper case', () => ['Authorization', `BEARER ${token()}`], 202],
    ['no header', () => [], 401],
    ['an empty header', () => ['Authorization', ''], 401],
    ['a scheme alone', () => ['Authorization', 'Bearer'], 401],
    ['Basic', () => ['Authorization', 'Basic dXNlcjpwYXNz'], 401],
    ['a bare token', () => ['Authorization', token()], 401],
    ['an unknown token', () => ['Authorization', `Bearer wri_${'a'.repeat(43)}`], 401],
    ['a token cut short', () => ['Authorization', `Bearer ${token().slice(0, -1)}`], 401],
    ['an access token', () => ['Authorization', `Bearer ${service.quickstart.accessToken}`], 401],
    [
      'the same header twice',
      () => ['Authorization', `Bearer ${token()}`, 'Authorization', `Bearer ${token()}`],
      401,
    ],
    [
      'a good and a bad header',
      () => ['Authorization', `Bearer ${token()}`, 'Authorization', 'Bearer wri_other'],
      401,
    ],
    ['two tokens', () => ['Authorization', `Bearer ${token()} ${token()}`], 401],
    ['a list', () => ['Authorization', `Bearer ${token()}, Bearer ${token()}`], 401],
  ];
  for (const [name, headers, status] of cases) {
    test(`${name}: ${status}`, async () => {
      const answer = await send(...headers());
      assert.equal(answer.status, status, answer.text);
      if (status === 401) assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/);
    });
  }
});

suite('7: errors', () => {
  test('400: a malformed payload', async () => {
    for (const body of ['{', '', 'null', '7', '"text"', '{"message":"a"}{"message":"b"}']) {
      const answer = await service.postLogs(body);
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    }
  });

  test('400: a body without a valid element', async () => {
    for (const body of [{}, [{}], [1, 2], { message: 1 }]) {
      const answer = await service.postLogs(body);
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    }
  });

  test('404: an unknown receiver, an unknown route, a URL with an extra /logs', async () => {
    const { ingestUrl, receivers } = service.quickstart;
    const { url, token, receiverId } = receivers.http_json;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(event);
    const unknown = `${ingestUrl}/v1/receivers/rcv_${'a'.repeat(26)}/logs`;
    for (const target of [unknown, `${url}/logs`, `${ingestUrl}/v1/receivers/${receiverId}`]) {
      const answer = await service.http.send(target, { method: 'POST', headers, body });
      assert.equal(answer.status, 404, `${target}: ${answer.text}`);
    }
  });

  test('404: the route with another method', async () => {
    const { url, token } = service.quickstart.receivers.http_json;
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await service.http.send(url, { method, headers });
      assert.equal(answer.status, 404, `${method}: ${answer.text}`);
    }
  });

  test('413: a body over 10 MiB, and more than 50,000 events', async () => {
    const large = await service.postLogs(JSON.stringify({ message: 'x'.repeat(11 * 2 ** 20) }));
    assert.equal(large.status, 413, large.text);
    const small = { message: 'x' };
    const many = await service.postLogs(Array.from({ length: 50_001 }, () => small));
    assert.equal(many.status, 413, many.text);
    assert.match(many.text, /50.?000/);
    const most = await service.postLogs(Array.from({ length: 50_000 }, () => small));
    assert.equal(most.status, 202, most.text);
  });

  test('413: a declared length over the limit, before the body', async () => {
    const { url, token } = service.quickstart.receivers.http_json;
    const { pathname, host } = new URL(url);
    const received = await exchangeRaw(service, {
      send: [
        `POST ${pathname} HTTP/1.1`,
        `Host: ${host}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${2 ** 40}`,
        '',
        '',
      ].join('\r\n'),
    });
    assert.equal(statusOf(received), 413, received);
  });

  test('an error body is problem+json with a code, a title, a detail and the request', async () => {
    const answer = await service.postLogs('{');
    assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/);
    const problem = answer.json<Record<string, unknown>>();
    for (const key of ['code', 'title', 'detail', 'requestId']) {
      assert.equal(typeof problem[key], 'string', `${key} in ${answer.text}`);
    }
  });
});
