/** Node.js with `fetch`, and a pino destination that sends in batches and retries. Pure. */
import { type Destination, type Snippet, toShellWord, toText } from './snippet.ts';

export function nodeSnippet({ url, token, caFile }: Destination): Snippet {
  const text = toText([
    'const response = await fetch(',
    `  ${quote(url)},`,
    '  {',
    `    method: 'POST',`,
    '    headers: {',
    `      authorization: ${quote(`Bearer ${token}`)},`,
    `      'content-type': 'application/json',`,
    '    },',
    '    body: JSON.stringify([',
    `      { message: 'hello from Node', severity: 'INFO', service_name: 'node' },`,
    '    ]),',
    '  },',
    ');',
    'console.log(response.status, await response.text());',
  ]);
  return {
    title: 'Node.js',
    blocks: [{ caption: 'hello.mjs', language: 'js', text }, runOf('hello.mjs', caFile)],
  };
}

export function pinoSnippet({ url, token, caFile }: Destination): Snippet {
  const text = toText([
    `import { randomUUID } from 'node:crypto';`,
    `import { setTimeout as sleep } from 'node:timers/promises';`,
    `import pino from 'pino';`,
    '',
    `const url = ${quote(url)};`,
    'const headers = {',
    `  authorization: ${quote(`Bearer ${token}`)},`,
    `  'content-type': 'application/json',`,
    '};',
    'const pending = [];',
    'let sending;',
    '',
    '// Sends batches of up to 1,000 lines; drops lines while 100,000 are pending.',
    'const weir = {',
    '  write(line) {',
    '    if (pending.length < 100_000) pending.push(line);',
    '    sending ??= send();',
    '  },',
    '};',
    '',
    'async function send() {',
    '  await sleep(200);',
    '  while (pending.length > 0) {',
    `    const body = \`[\${pending.splice(0, 1000).join(',')}]\`;`,
    '    // The key is the same for each attempt, so that the batch is stored once.',
    `    const keyed = { ...headers, 'idempotency-key': randomUUID() };`,
    `    while (!(await post({ method: 'POST', headers: keyed, body }))) await sleep(2000);`,
    '  }',
    '  sending = undefined;',
    '}',
    '',
    'async function post(request) {',
    '  try {',
    '    const response = await fetch(url, request);',
    '    if (!response.ok) console.error(response.status, await response.text());',
    '    return response.status !== 429 && response.status < 500;',
    '  } catch (error) {',
    '    console.error(error.cause ?? error);',
    '    return false;',
    '  }',
    '}',
    '',
    'export const logger = pino(',
    `  { base: { service_name: 'my-service' } },`,
    '  pino.multistream([{ stream: process.stdout }, { stream: weir }]),',
    ');',
  ]);
  const use = toText([
    `import { logger } from './logger.mjs';`,
    '',
    `logger.info({ order: 17 }, 'hello from pino');`,
  ]);
  return {
    title: 'pino',
    blocks: [
      { caption: 'logger.mjs', language: 'js', text },
      { caption: 'app.mjs', language: 'js', text: use },
      runOf('app.mjs', caFile),
    ],
    note: 'Lines are sent unchanged. Fields other than time, level and msg become labels.',
  };
}

function runOf(file: string, caFile: string | undefined) {
  const trust = caFile === undefined ? '' : `NODE_EXTRA_CA_CERTS=${toShellWord(caFile)} `;
  return { caption: 'Run', language: 'sh', text: toText([`${trust}node ${file}`]) } as const;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
