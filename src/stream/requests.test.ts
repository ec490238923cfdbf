/** Parameters of reads: accepted values, and errors that name the parameter. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { encodeLogId, nilLogId } from '../model/log-id.ts';
import { joinNames } from '../model/log-fields.ts';
import { parseQuery } from '../std/parse-query.ts';
import { facetsBatchQuery, facetsQuery, histogramQuery, listQuery } from './requests.ts';

const parsed = <Schema extends z.ZodObject>(schema: Schema, query: string) =>
  parseQuery(schema, new URLSearchParams(query));

function refusal(schema: z.ZodObject, query: string): AppError {
  try {
    parsed(schema, query);
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'malformed');
    return error;
  }
  return assert.fail(`"${query}" was taken`);
}

const id = encodeLogId({ timeNanos: 1_775_032_200_123_456_789n, tie: 5n });

suite('a list', () => {
  test('limits to 100 logs by default', () => {
    assert.deepEqual(parsed(listQuery, ''), { limit: 100, order: 'desc' });
  });

  test('reads many repeated parameters in linear time', () => {
    // In quadratic time this would not end.
    const { message } = refusal(listQuery, 'x=1&'.repeat(200_000));
    assert.match(message, /^cannot use unknown parameter "x"/);
  });

  test('parses every parameter, repeated ones as lists', () => {
    const query =
      'limit=1000&search=a%20b&severity=info&severity=warn&host=&serviceName=s&serviceNamespace=n' +
      '&label=a:b:c&label=d:&k8sCluster=1&k8sNamespace=2&k8sNode=3&k8sPod=4&k8sContainer=5' +
      '&k8sDeployment=6&streamId=0B9F6A3E-3C5D-4A51-9A3A-6E3B1C0A7F10' +
      '&sinceTime=2026-04-01T08:30:00.123456789Z&untilTime=1775032200124';
    assert.deepEqual(parsed(listQuery, query), {
      limit: 1_000,
      order: 'desc',
      search: 'a b',
      severity: ['info', 'warn'],
      host: [''],
      serviceName: ['s'],
      serviceNamespace: ['n'],
      label: [
        { key: 'a', value: 'b:c' },
        { key: 'd', value: '' },
      ],
      k8sCluster: ['1'],
      k8sNamespace: ['2'],
      k8sNode: ['3'],
      k8sPod: ['4'],
      k8sContainer: ['5'],
      k8sDeployment: ['6'],
      streamId: ['0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10'],
      sinceTime: 1_775_032_200_123_456_789n,
      untilTime: 1_775_032_200_124_000_000n,
    });
  });

  test('accepts startTime and endTime as synonyms', () => {
    assert.deepEqual(parsed(listQuery, 'startTime=1&endTime=2'), {
      limit: 100,
      order: 'desc',
      sinceTime: 1_000_000n,
      untilTime: 2_000_000n,
    });
  });

  test('splits exclusions at the first colon', () => {
    const { exclude, excludeLabel } = parsed(
      listQuery,
      `exclude=host:a:b&exclude=severity:&exclude=streamId:${id}&excludeLabel=k:v:w`,
    );
    assert.deepEqual(exclude, [
      { field: 'host', value: 'a:b' },
      { field: 'severity', value: '' },
      { field: 'streamId', value: id },
    ]);
    assert.deepEqual(excludeLabel, [{ key: 'k', value: 'v:w' }]);
  });

  test('accepts an escaped colon in the key of a label', () => {
    const values = ['a\\:b:c\\:d', 'a\\b:c', 'a\\\\:c'];
    const query = new URLSearchParams(values.map((value) => ['label', value])).toString();
    assert.deepEqual(parsed(listQuery, query).label, [
      { key: 'a:b', value: 'c\\:d' },
      { key: 'a\\b', value: 'c' },
      { key: 'a\\', value: 'c' },
    ]);
    assert.match(refusal(listQuery, 'label=a%5C:b').message, /key:value/);
  });

  test('parses a cursor as a pair, as JSON, and with the nil UUID', () => {
    const cursor = { timestamp: '2026-04-01T08:30:00.123Z', logId: id };
    const pair = parsed(listQuery, `cursor=${cursor.timestamp},${id}`);
    assert.deepEqual(pair.cursor, cursor);
    const json = encodeURIComponent(JSON.stringify(cursor));
    assert.deepEqual(parsed(listQuery, `since=${json}`).since, cursor);
    assert.deepEqual(parsed(listQuery, `since=1970-01-01T00:00:00Z,${nilLogId}`).since, {
      timestamp: '1970-01-01T00:00:00.000Z',
      logId: nilLogId,
    });
  });
});

suite('filters by ids and severity', () => {
  test('accepts hex digits in any case, and the empty id', () => {
    const { traceId, spanId } = parsed(
      listQuery,
      'traceId=4BF92F3577B34DA6A3CE929D0E0E4736&traceId=&spanId=00f067aa0ba902b7',
    );
    assert.deepEqual(traceId, ['4BF92F3577B34DA6A3CE929D0E0E4736', '']);
    assert.deepEqual(spanId, ['00f067aa0ba902b7']);
  });

  test('reads minSeverity as a word or a number', () => {
    const numbers = ['warn', 'WARNING', 'crit', '1', '24'].map(
      (word) => parsed(listQuery, `minSeverity=${word}`).minSeverity,
    );
    assert.deepEqual(numbers, [13, 13, 18, 1, 24]);
  });
});

suite('rejects and names the parameter', () => {
  const cases: readonly (readonly [z.ZodObject, string, string, RegExp])[] = [
    [listQuery, 'order=up', 'order', /desc or asc/],
    [listQuery, 'limit=0', 'limit', /whole number from 1 to 1000/],
    [listQuery, 'limit=1001', 'limit', /1 to 1000/],
    [listQuery, 'limit=1e2', 'limit', /"1e2"/],
    [listQuery, 'limit=', 'limit', /1 to 1000/],
    [listQuery, 'limit=1&limit=2', 'limit', /more than once/],
    [listQuery, 'search=a&search=b', 'search', /more than once/],
    [listQuery, 'sinceTime=1&startTime=2', 'sinceTime', /more than once/],
    [listQuery, 'sinceTime=yesterday', 'sinceTime', /RFC 3339/],
    [listQuery, 'sinceTime=2200-01-01T00:00:00Z', 'sinceTime', /1970 to 2148/],
    [listQuery, 'severty=INFO', 'severty', /unknown parameter "severty"; known are .*severity/],
    [listQuery, 'field=host', 'field', /unknown/],
    [listQuery, '__proto__=1', '__proto__', /unknown/],
    [listQuery, 'label=nocolon', 'label', /key:value/],
    [listQuery, 'label=a:b&label=:c', 'label', /":c"/],
    [listQuery, 'streamId=x', 'streamId', /a UUID/],
    [listQuery, 'traceId=4bf92f35', 'traceId', /"4bf92f35": it must be 32 hex digits/],
    [listQuery, 'spanId=00f067aa0ba902bz', 'spanId', /16 hex digits/],
    [listQuery, 'exclude=spanId:x', 'exclude', /spanId 16 hex digits/],
    [listQuery, 'minSeverity=loud', 'minSeverity', /a severity such as warn/],
    [listQuery, 'minSeverity=25', 'minSeverity', /from 1 to 24/],
    [listQuery, 'minSeverity=0', 'minSeverity', /from 1 to 24/],
    [listQuery, 'exclude=colour:red', 'exclude', /field being one of severity, serviceName/],
    [listQuery, 'exclude=severity', 'exclude', /"severity"/],
    [listQuery, 'exclude=streamId:x', 'exclude', /the value of streamId a UUID/],
    [listQuery, 'excludeLabel=nocolon', 'excludeLabel', /key:value/],
    [listQuery, 'cursor=x', 'cursor', /cursor of an earlier response/],
    [listQuery, `cursor=1970-01-01T00:00:00Z,${id}`, 'cursor', /cursor of an earlier response/],
    [listQuery, 'since={"timestamp":1}', 'since', /cursor of an earlier response/],
    [listQuery, `search=${'x'.repeat(1_001)}`, 'search', /at most 1000 characters/],
    [histogramQuery, 'endTime=2', 'startTime', /cannot answer without parameter startTime/],
    [histogramQuery, 'startime=1&endTime=2', 'startime', /unknown parameter "startime"/],
    [histogramQuery, 'sinceTime=1&endTime=2&buckets=501', 'buckets', /1 to 500/],
    [
      histogramQuery,
      'startTime=1&endTime=2&groupBy=colour',
      'groupBy',
      /or label\.<key> .*customer\.id/,
    ],
    [histogramQuery, 'startTime=1&endTime=2&groupBy=a;b.c', 'groupBy', /or label\.<key>/],
    [histogramQuery, 'startTime=1&endTime=2&groupBy=message', 'groupBy', /one of severity/],
    [histogramQuery, 'startTime=1&endTime=2&groupBy=host&topK=101', 'topK', /1 to 100/],
    [facetsQuery, '', 'field', /without parameter field/],
    [facetsQuery, 'field=colour', 'field', /one of severity, service/],
    [facetsQuery, 'field=host&topK=101', 'topK', /1 to 100/],
    [facetsQuery, 'field=label.', 'field', /or label\.<key> for a label/],
    [facetsBatchQuery, 'fields=', 'fields', /separated by commas/],
    [facetsBatchQuery, 'fields=host,toString', 'fields', /separated by commas/],
  ];
  for (const [schema, query, parameter, message] of cases) {
    test(query.slice(0, 60) || 'nothing', () => {
      const error = refusal(schema, query);
      assert.equal(error.parameter, parameter);
      assert.match(error.message, message);
      assert.match(error.message, /^cannot /);
    });
  }
});

test('the histogram accepts sinceTime and untilTime as synonyms', () => {
  assert.deepEqual(parsed(histogramQuery, 'sinceTime=1&untilTime=2'), {
    startTime: 1_000_000n,
    endTime: 2_000_000n,
    buckets: 60,
    topK: 10,
  });
});

test('groups by any name of a field in queries, and by labels', () => {
  const fieldOf = (name: string) => parsed(facetsQuery, `field=${name}`).field.field;
  const names = ['service', 'service_name', 'k8s-pod', 'kubernetes.pod', 'level', 'label.host'];
  assert.deepEqual(names.map(fieldOf), [
    'serviceName',
    'serviceName',
    'k8sPod',
    'k8sPod',
    'severity',
    'label.host',
  ]);
});

test('a list of fields takes a comma of a key', () => {
  const names = joinNames(['label.a,b', 'host']);
  const query = new URLSearchParams({ fields: names }).toString();
  const { fields } = parsed(facetsBatchQuery, query);
  assert.deepEqual(
    fields.map(({ name, field }) => [name, field]),
    [
      ['label.a,b', 'label.a,b'],
      ['host', 'host'],
    ],
  );
});

test('a batch of facets keeps order and names', () => {
  const { fields, topK } = parsed(facetsBatchQuery, 'fields=service_name,%20host,service');
  const names = fields.map(({ name }) => name);
  assert.deepEqual({ names, topK }, { names: ['service_name', 'host', 'service'], topK: 10 });
});

test('schemas describe the text of parameters', () => {
  const schema = z.toJSONSchema(listQuery, { io: 'input' }) as {
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  assert.equal(schema.properties['limit']!['maximum'], 1_000);
  assert.match(String(schema.properties['limit']!['description']), /default 100/);
  assert.equal(schema.properties['sinceTime']!['example'], '2026-04-01T08:30:00Z');
  assert.equal(schema.properties['label']!['type'], 'array');
  assert.equal(schema.properties['sinceTime']!['type'], 'string');
  assert.deepEqual(schema.required ?? [], []);
  for (const [name, property] of Object.entries(schema.properties)) {
    assert.ok(property['description'], name);
  }
  const histogram = z.toJSONSchema(histogramQuery, { io: 'input' });
  assert.deepEqual(histogram.required, ['startTime', 'endTime']);
});
