/**
 * What clients of Elasticsearch ask before they send: version, licence, health, and whether their
 * templates, policies and pipelines exist. All do, so that clients install none; those that are
 * sent are acknowledged and not stored.
 */
import type { StatusRoute, Reply } from '../../../model/protocol.ts';

/** Clients refuse to work with a server that does not name itself in this header. */
export const productHeader = { 'x-elastic-product': 'Elasticsearch' };
/** The last version of the major that clients of 7, 8 and 9 work with. */
const version = '8.19.0';

const about = {
  name: 'weir',
  cluster_name: 'weir',
  cluster_uuid: 'weir',
  version: {
    number: version,
    build_flavor: 'default',
    build_type: 'tar',
    build_hash: 'weir',
    build_snapshot: false,
    lucene_version: '9.12.2',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  // Clients of version 7 compare it.
  tagline: 'You Know, for Search',
};

const license = { license: { uid: 'weir', status: 'active', type: 'basic', mode: 'basic' } };

const health = {
  cluster_name: 'weir',
  status: 'green',
  timed_out: false,
  number_of_nodes: 1,
  number_of_data_nodes: 1,
  active_shards_percent_as_number: 100,
};

/** For rsyslog, which asks before each batch. */
const healthLine = '0 00:00:00 weir green 1 1 0 0 0 0 0 0 - 100.0%\n';

const read = ['GET', 'HEAD'] as const;
const write = ['PUT', 'POST'] as const;

/** Resources that clients install by name. */
const named = [
  '/_alias/:name',
  '/_component_template/:name',
  '/_data_stream/:name',
  '/_ilm/policy/:name',
  '/_index_template/:name',
  '/_ingest/pipeline/:name',
  '/_template/:name',
];

const questions: readonly (readonly [StatusRoute['methods'], path: string, object | string])[] = [
  // Some clients ask without a slash.
  [read, '', about],
  [read, '/', about],
  [read, '/_license', license],
  [read, '/_xpack', { ...license, features: {} }],
  [read, '/_cluster/health', health],
  [read, '/_cat/health', healthLine],
  ...named.flatMap((path) => [
    [read, path, {}] as const,
    [write, path, { acknowledged: true }] as const,
  ]),
];

/** @param bases paths that clients may have in their URL, without a slash at the end */
export function createHandshake(bases: readonly string[]): StatusRoute[] {
  return bases.flatMap((base) =>
    questions
      .map(([methods, path, answer]) => ({
        methods,
        path: `${base}${path}`,
        answer: () => toReply(answer),
      }))
      // The root is '/' in any request.
      .filter(({ path }) => path !== ''),
  );
}

function toReply(answer: object | string): Reply {
  const isText = typeof answer === 'string';
  return {
    status: 200,
    contentType: isText ? 'text/plain; charset=utf-8' : 'application/json',
    body: isText ? answer : JSON.stringify(answer),
    headers: productHeader,
  };
}
