/** Requests of floods, as HTTP/2 fields and as HTTP/1.1 heads. */
import type { Target } from './attack.ts';
import type { Fields } from './frames.ts';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly fields: Fields;
}

/** A read that costs the store something; without a token, the largest public answer. */
export function costlyRead({ quickstart, port, hasToken }: Target): Asked {
  if (port === 'ingest' || !hasToken) return { method: 'GET', path: '/openapi.json', fields: [] };
  const fields: Fields = [
    ['authorization', `Bearer ${quickstart.accessToken}`],
    ['x-active-account', quickstart.accountId],
  ];
  return { method: 'GET', path: '/api/v1/logs?limit=1000', fields };
}

/** A request with a body: logs on the ingest port, a remote read on the stream port. */
export function upload({ quickstart, port, hasToken }: Target): Asked {
  if (port === 'ingest') {
    const { url, token } = quickstart.receivers.http_json;
    const fields = [
      ['content-type', 'application/json'],
      ...(hasToken ? [['authorization', `Bearer ${token}`] as const] : []),
    ] as Fields;
    return { method: 'POST', path: new URL(url).pathname, fields };
  }
  const fields = [
    ['content-type', 'application/x-protobuf'],
    ['content-encoding', 'snappy'],
    ['x-active-account', quickstart.accountId],
    ...(hasToken ? [['authorization', `Bearer ${quickstart.accessToken}`] as const] : []),
  ] as Fields;
  return { method: 'POST', path: '/api/v1/prometheus/api/v1/read', fields };
}

/** With an unknown token. */
export function withWrongToken({ port, quickstart }: Target, attempt: number): Asked {
  const wrong = (prefix: string) => `Bearer ${prefix}_${`${attempt}`.padStart(43, 'x')}`;
  if (port === 'stream') {
    const fields: Fields = [
      ['authorization', wrong('wra')],
      ['x-active-account', quickstart.accountId],
    ];
    return { method: 'GET', path: '/api/v1/logs?limit=1', fields };
  }
  const { url } = quickstart.receivers.http_json;
  const fields: Fields = [
    ['authorization', wrong('wri')],
    ['content-type', 'application/json'],
  ];
  return { method: 'POST', path: new URL(url).pathname, fields };
}

export function toFields({ method, path, fields }: Asked): Fields {
  return [
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
    ...fields,
  ];
}

/** Without the final empty line. */
export function toHead({ method, path, fields }: Asked, more: readonly string[] = []): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, 'host: localhost', ...lines, ...more, ''].join('\r\n');
}
