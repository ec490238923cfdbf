/** Streams in the control API, and the deletion of their data. */
import type { Directory } from '../directory/port.ts';
import type { Stream } from '../model/account.ts';
import { levelBeyondRetention } from '../model/downsampling.ts';
import { AppError } from '../model/errors.ts';
import type { AdminContext } from './context.ts';
import { defineAccountRoute, type DefinedRoute, notFound, requireOwned } from './routes.ts';
import { newStream, streamAnswer, streamChange, streamParams, streamsAnswer } from './schemas.ts';

const nanosPerMs = 1_000_000n;

export const streamRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /streams',
    operationId: 'listStreams',
    summary: "The account's streams",
    // Readers without the scope `admin` need the names of streams.
    scope: null,
    response: streamsAnswer,
    handle: async ({ accountId }, { directory }) => ({
      streams: await directory.listStreams(accountId),
    }),
  }),
  defineAccountRoute({
    endpoint: 'GET /streams/:streamId',
    operationId: 'getStream',
    summary: 'One stream',
    scope: null,
    params: streamParams,
    response: streamAnswer,
    handle: ({ accountId, params }, { directory }) => find(directory, accountId, params.streamId),
  }),
  defineAccountRoute({
    endpoint: 'POST /streams',
    operationId: 'createStream',
    summary: 'Create a stream',
    body: newStream,
    response: streamAnswer,
    successStatus: 201,
    handle: async ({ accountId, body }, { directory, record }) => {
      checkLevels(body, 'downsampling');
      const stream = await directory.createStream({ ...body, accountId });
      record(stream.streamId);
      return stream;
    },
  }),
  defineAccountRoute({
    endpoint: 'PATCH /streams/:streamId',
    operationId: 'updateStream',
    summary: 'Rename a stream, change its retention or its downsampling',
    params: streamParams,
    body: streamChange,
    response: streamAnswer,
    handle: async ({ accountId, params: { streamId }, body }, { directory, record }) => {
      const before = await find(directory, accountId, streamId);
      if (body.downsampling !== undefined) checkLevels({ ...before, ...body }, 'downsampling');
      else if (body.retentionDays !== undefined) {
        checkLevels({ ...before, ...body }, 'retentionDays');
      }
      const stream = await directory.updateStream(streamId, body);
      if (!stream) throw notFound('stream', streamId);
      record(streamId);
      return stream;
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /streams/:streamId/data',
    operationId: 'deleteStreamData',
    summary: 'Delete everything a stream has received so far; reads hide it at once',
    params: streamParams,
    response: streamAnswer,
    handle: async ({ accountId, params: { streamId } }, context) => {
      const found = await find(context.directory, accountId, streamId);
      const stream = await hideData(context, found);
      context.record(streamId);
      const untilNanos = BigInt(Date.parse(stream.dataDeletedUntil ?? '')) * nanosPerMs;
      const deletions = await Promise.allSettled([
        context.store.deleteStreamData(accountId, streamId, untilNanos),
        context.queue.dropQuarantined(streamId, untilNanos),
      ]);
      for (const each of deletions) if (each.status === 'rejected') throw each.reason;
      return stream;
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /streams/:streamId',
    operationId: 'deleteStream',
    summary: 'Delete a stream that no receiver feeds, and its data',
    params: streamParams,
    handle: async ({ accountId, params: { streamId } }, context) => {
      const { directory, queue, store, record, telemetry } = context;
      await find(directory, accountId, streamId);
      if (!(await directory.deleteStream(streamId))) throw notFound('stream', streamId);
      record(streamId);
      // Housekeeping deletes the rows that this leaves: of the queue, or all if the store is away.
      await Promise.allSettled([
        store.deleteStreamData(accountId, streamId),
        queue.dropQuarantined(streamId).catch((error: unknown) => {
          telemetry.quarantineNotDropped(streamId, error);
        }),
      ]);
    },
  }),
];

/** @param changed field of the body that the error names. @throws AppError `malformed` */
function checkLevels(
  { downsampling, retentionDays }: Pick<Stream, 'downsampling' | 'retentionDays'>,
  changed: 'downsampling' | 'retentionDays',
): void {
  const level = levelBeyondRetention(downsampling, retentionDays);
  if (level === undefined) return;
  throw new AppError(
    'malformed',
    `cannot accept the body: ${changed}: downsampling level ${level} is not reached, since ` +
      `data is deleted after ${retentionDays} days: keep data longer or remove the level`,
    { parameter: changed },
  );
}

async function find(directory: Directory, accountId: string, streamId: string): Promise<Stream> {
  const stream = await directory.getStream(streamId);
  return requireOwned(stream, 'stream', { accountId, id: streamId });
}

/** Reads hide everything received before this call, and show everything received after it. */
async function hideData({ directory, queue }: AdminContext, { streamId }: Stream) {
  const chosen = queue.receiptCutoff();
  // Concurrent with ingest: a batch received after the deletion must not rely on series labels
  // stored before it.
  const forgotten = queue.forgetSeries();
  const [cutoff] = await Promise.all([chosen, forgotten]);
  // The deletion time may be ahead of this clock, so labels written since may be before it too.
  await queue.forgetSeries();
  const untilMs = Number(cutoff / nanosPerMs);
  const dataDeletedUntil = new Date(untilMs).toISOString();
  const hidden = await directory.updateStream(streamId, { dataDeletedUntil });
  if (!hidden) throw notFound('stream', streamId);
  // The stream keeps the time of an earlier deletion if that is later.
  return hidden;
}
