/** Which addresses a notifier reaches. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { messageOf } from '../std/error-text.ts';
import { createPost, createUrlCheck } from './post.ts';

const message = { body: '{}', headers: {} };
const signal = new AbortController().signal;

suite('posts of notifiers', () => {
  const refused = [
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://2130706433:1/',
    'http://10.0.0.1:1/',
    'http://192.168.1.1:1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0:1/',
    'http://[fd00::1]:1/',
    'http://[fe80::1]:1/',
    'http://[64:ff9b::7f00:1]:1/',
  ];
  for (const url of refused) {
    test(`refuse ${url}`, async () => {
      const post = createPost({ allowedNetworks: ['192.0.2.0/24'] });
      const reason = /the address is not public|its name has no address that is public/;
      await assert.rejects(post(url, message, signal), reason);
    });
    test(`refuse ${url} before it is posted to`, () => {
      const check = createUrlCheck({ allowedNetworks: ['192.0.2.0/24'] });
      assert.throws(() => check(url), /the address is not public; add its range to/);
    });
  }

  test('check allowed and public addresses, and leave names to the resolution', () => {
    const check = createUrlCheck({ allowedNetworks: ['127.0.0.0/8', 'fd00::/8'] });
    for (const host of ['localhost', '127.0.0.9', '[fd00::1]', '1.1.1.1', 'db.internal']) {
      check(`http://${host}:9093/`);
    }
  });

  test('check names of this machine by its addresses of both families', () => {
    for (const network of ['127.0.0.0/8', '::1/128']) {
      const check = createUrlCheck({ allowedNetworks: [network] });
      for (const host of ['localhost', 'localhost.', 'LOCALHOST', 'am.localhost']) {
        check(`http://${host}:9093/`);
      }
    }
    const check = createUrlCheck({ allowedNetworks: ['10.0.0.0/8'] });
    assert.throws(() => check('http://am.localhost/'), /127\.0\.0\.1: the address is not public/);
    check('http://notlocalhost/');
  });

  test('reach a name with addresses of which some are allowed, by these alone', async () => {
    const hosts: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      hosts.push(headers.host);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const addresses = ['::1', '10.0.0.1', '127.0.0.1'];
    const post = createPost({ allowedNetworks: ['127.0.0.0/8'] }, (_name, _options, answer) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    );
    await post(`http://several.example:${port}/`, message, signal);
    assert.deepEqual(hosts, [`several.example:${port}`]);
    addresses.pop();
    await assert.rejects(post(`http://several.example:${port}/`, message, signal), (error) => {
      assert.ok(error instanceof Error && !error.message.includes('10.0.0.1'));
      assert.match(messageOf(error.cause), /cannot notify ::1, 10\.0\.0\.1: /);
      return true;
    });
    server.close();
  });

  test('reach an allowed network, and follow no redirect', async () => {
    const statuses = [200, 302, 500];
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      void readText(request).then((body) => {
        bodies.push(body);
        response.writeHead(statuses.shift()!, { location: 'http://127.0.0.1:1/' }).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const post = createPost({ allowedNetworks: ['127.0.0.0/8'] });
    const url = `http://127.0.0.1:${port}/hook`;
    await post(url, message, signal);
    await assert.rejects(post(url, message, signal), /it answered 302/);
    await assert.rejects(post(url, message, signal), /it answered 500/);
    assert.deepEqual(bodies, ['{}', '{}', '{}']);
    server.close();
  });

  test('tell the same of a missing name and of one with a private address', async () => {
    const post = createPost({ allowedNetworks: [] });
    const reasonOf = async (url: string) =>
      post(url, message, signal).then(
        () => assert.fail('it was posted'),
        (error: unknown) => messageOf(error).replace(url, 'URL'),
      );
    assert.equal(await reasonOf('http://missing.invalid'), await reasonOf('http://localhost'));
  });

  test('may reach a single address that is allowed', () => {
    const check = createUrlCheck({ allowedNetworks: ['10.0.0.1', 'fd00::1'] });
    for (const url of ['https://10.0.0.1/', 'https://[fd00::1]/']) check(url);
    assert.throws(() => check('https://10.0.0.2/'), /alerts\.allowedNetworks/);
  });
});
