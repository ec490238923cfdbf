/** Node without a library, and pino: a destination that sends in batches and repeats. Pure. */
import { type Destination, type Snippet, toText } from './snippet.ts';

export function nodeSnippet({ url, token, caFile }: Destination): Snippet {
  const text = toText([
    'const answer = await fetch(',
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
    'console.log(answer.status, await answer.text());',
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
    'const waiting = [];',
    'let sending;',
    '',
    '// Takes the lines of pino as they are, a thousand at once, at most 100,000 waiting.',
    'const weir = {',
    '  write(line) {',
    '    if (waiting.length < 100_000) waiting.push(line);',
    '    sending ??= send();',
    '  },',
    '};',
    '',
    'async function send() {',
    '  await sleep(200);',
    '  while (waiting.length > 0) {',
    `    const body = \`[\${waiting.splice(0, 1000).join(',')}]\`;`,
    '    // The same key each time: what is repeated is stored once.',
    `    const keyed = { ...headers, 'idempotency-key': randomUUID() };`,
    `    while (!(await post({ method: 'POST', headers: keyed, body }))) await sleep(2000);`,
    '  }',
    '  sending = undefined;',
    '}',
    '',
    'async function post(request) {',
    '  try {',
    '    const answer = await fetch(url, request);',
    '    if (!answer.ok) console.error(answer.status, await answer.text());',
    '    return answer.status !== 429 && answer.status < 500;',
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
    note: 'Lines of pino are taken as they are; what is not time, level or msg becomes a label.',
  };
}

function runOf(file: string, caFile: string | undefined) {
  const trust = caFile === undefined ? '' : `NODE_EXTRA_CA_CERTS=${caFile} `;
  return { caption: 'Run', language: 'sh', text: toText([`${trust}node ${file}`]) } as const;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
