/** The live tail as plain data: the edge mounts it, checks the scope and describes it. */
import { parseQuery } from '../std/parse-query.ts';
import { type ReadRoute, StreamedAnswer } from '../model/read-route.ts';
import type { Tail } from './tail.ts';
import { parseLastEventId, tailQuery } from './tail-request.ts';

const mediaType = 'text/event-stream';

const description = [
  'Server-sent events, in the order in which logs arrive, without an end. The `id` of each is',
  'where to go on: sent as `Last-Event-ID`, the next answer has every later log, and none twice.',
  '`open` comes first, `log` has one log as the list has it, `heartbeat` comes when nothing else',
  'does, `dropped` tells `count`, `fromTime` and `untilTime` of logs left out for a reader more',
  'than `maxLagSeconds` behind, `error` is a problem and the last event, `end` is the last one of',
  'a service that closes: connect again.',
].join(' ');

export function createTailRoutes(tail: Tail): readonly ReadRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logs/tail',
      operationId: 'tailLogs',
      summary: 'Logs as they arrive, as server-sent events',
      description,
      scope: 'logs:read',
      query: tailQuery,
      response: { mediaType, schema: undefined },
      async read({ accountId, search, lastEventId, signal, recheck }) {
        const query = parseQuery(tailQuery, search);
        const after = parseLastEventId(lastEventId);
        const events = tail.follow({ accountId, query, after, signal, recheck });
        return new StreamedAnswer(mediaType, events, { 'x-accel-buffering': 'no' });
      },
    },
  ];
}
