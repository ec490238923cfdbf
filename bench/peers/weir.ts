/** Weir as a peer: one process with its embedded store, default settings. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Facet, type Parameters, Service, toQuery } from '../../test/harness/service.ts';
import { drained, indexed } from '../service-gauge.ts';
import type { Filter, Form, Peer, Question } from './peer.ts';
import { facetValues, histogramBuckets, listLimit } from './peer.ts';

/** @param dataDir does not exist yet; `stop` deletes it */
export async function startWeirPeer(dataDir: string): Promise<Peer> {
  const service = new Service(dataDir, {});
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  const { receivers, caFile } = service.quickstart;
  const { url, token } = receivers.http_json;
  const histogram = async (parameters: Parameters) => (await service.histogram(parameters)).total;
  const ask = async (read: WeirRead) => {
    const { path, parameters } = read;
    switch (path) {
      case '/logs':
        return (await service.list(parameters)).logs.length;
      case '/histogram':
        return histogram(parameters);
      case '/facets':
        return sumCounts([await readFacets<Facet>(service, read)]);
      case '/facets/batch':
        return sumCounts((await readFacets<{ facets: readonly Facet[] }>(service, read)).facets);
    }
  };
  return {
    name: 'Weir',
    version: readVersion(),
    flags: 'none',
    acknowledgement: 'the events are written and synced (fsync)',
    dataDir,
    ca: readFileSync(caFile, 'utf8'),
    insertTarget: {
      url,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      toBody: toArray,
    },
    pids: () => [service.process.pid, ...service.enginePids()],
    count: ({ sinceMs, untilMs }) =>
      histogram({ startTime: sinceMs, endTime: untilMs, buckets: 1 }),
    idle: async () => {
      await drained(service);
      await indexed(service);
    },
    formsOf: (question): Form[] => {
      const read = toWeirRead(question);
      return [{ text: `${read.path}?${toQuery(read.parameters)}`, ask: () => ask(read) }];
    },
    stop: () => service.stop(),
  };
}

async function readFacets<T>(service: Service, { path, parameters }: WeirRead): Promise<T> {
  const answer = await service.read(path, parameters);
  if (answer.status !== 200) throw new Error(`cannot read facets: ${answer.text}`);
  return answer.json<T>();
}

function sumCounts(facets: readonly Facet[]): number {
  return facets.flatMap(({ values }) => values).reduce((sum, { count }) => sum + count, 0);
}

/** One JSON object a line to a JSON array, in place; strings of JSON contain no line feed. */
function toArray(lines: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from('['), lines]);
  for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) body[at] = 44;
  body[body.length - 1] = 93;
  return body;
}

interface WeirRead {
  readonly path: '/logs' | '/histogram' | '/facets' | '/facets/batch';
  readonly parameters: Parameters;
}

export function toWeirRead(question: Question): WeirRead {
  const { kind, sinceMs, untilMs } = question;
  const filter = toParameters(question.filter);
  const range = { sinceTime: sinceMs, untilTime: untilMs };
  switch (kind) {
    case 'list':
      return { path: '/logs', parameters: { limit: listLimit, ...range, ...filter } };
    case 'histogram': {
      const buckets = { startTime: sinceMs, endTime: untilMs, buckets: histogramBuckets };
      const groups = question.bySeverity ? { groupBy: 'severity' } : {};
      return { path: '/histogram', parameters: { ...buckets, ...groups, ...filter } };
    }
    case 'facets': {
      const fields = question.fields.join(',');
      const parameters = { topK: facetValues, ...range, ...filter };
      return question.fields.length === 1
        ? { path: '/facets', parameters: { field: fields, ...parameters } }
        : { path: '/facets/batch', parameters: { fields, ...parameters } };
    }
  }
}

function toParameters({ service, severity, label, words, phrase, part }: Filter): Parameters {
  const search = [...(words ?? []), phrase === undefined ? '' : `"${phrase}"`, part ?? '']
    .filter((term) => term !== '')
    .join(' ');
  return {
    ...(service === undefined ? {} : { serviceName: service }),
    ...(severity === undefined ? {} : { severity }),
    ...(label === undefined ? {} : { label: `${label.key}:${label.value}` }),
    ...(search === '' ? {} : { search }),
  };
}

/** Version of the package and the commit of the checkout, if it is one. */
export function readVersion(): string {
  const root = new URL('../../', import.meta.url);
  const text = readFileSync(new URL('package.json', root), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  try {
    const args = ['describe', '--always', '--dirty'];
    const commit = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return `${version} (${commit.trim()})`;
  } catch {
    // Not a git checkout.
    return version;
  }
}
