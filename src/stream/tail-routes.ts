/** The route of the live tail. */
import { type ArrivalPosition, decodeArrival } from '../model/arrival.ts';
import { AppError } from '../model/errors.ts';
import { type ReadRequest, type ReadRoute, StreamedResponse } from '../model/read-route.ts';
import { withQuery } from '../std/parse-query.ts';
import { tailQuery } from './requests.ts';
import type { Tail } from './tail.ts';

const mediaType = 'text/event-stream';

const description = [
  'An endless stream of server-sent events, in order of arrival. The `id` of an event is',
  'a position: sent as `Last-Event-ID`, it resumes the tail after that event, without losing or',
  'repeating a log. `open` comes first. `log` has one log in the form of the list. `heartbeat` is',
  'sent while there are no logs. `dropped` has `count`, `fromTime` and `untilTime` of logs skipped',
  'for a reader more than `maxLagSeconds` behind. `error` is a problem and the last event. `end`',
  'is the last event before the service stops: reconnect.',
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
      response: { mediaType, schema: undefined },
      ...withQuery(tailQuery, async (query, request: ReadRequest) => {
        const { accountId, lastEventId, signal, recheck } = request;
        const after = parseLastEventId(lastEventId);
        const events = tail.follow({ accountId, query, after, signal, recheck });
        return new StreamedResponse(mediaType, events, { 'x-accel-buffering': 'no' });
      }),
    },
  ];
}

function parseLastEventId(text: string | undefined): ArrivalPosition | undefined {
  // A client sends an empty value before its first event.
  if (text === undefined || text === '') return undefined;
  const position = decodeArrival(text);
  if (position !== undefined) return position;
  const shown = JSON.stringify(text.slice(0, 80));
  throw new AppError(
    'malformed',
    `cannot resume after Last-Event-ID ${shown}: it must be the id of an event of a tail, ` +
      'or absent to begin now',
    { parameter: 'Last-Event-ID' },
  );
}
