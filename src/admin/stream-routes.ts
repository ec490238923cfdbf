/** Streams in the control API, and the deletion of their data. */
import type { Directory } from '../directory/port.ts';
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { AdminContext } from './context.ts';
import { type AdminRoute, defineAccountRoute } from './routes.ts';
import { newStream, streamAnswer, streamChange, streamParams, streamsAnswer } from './schemas.ts';

const nanosPerMs = 1_000_000n;

export function streamRoutes(context: AdminContext): AdminRoute[] {
  return [
    listStreams(context),
    getStream(context),
    createStream(context),
    updateStream(context),
    deleteStreamData(context),
    deleteStream(context),
  ];
}

function listStreams({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/streams',
    operationId: 'listStreams',
    summary: "The account's streams",
    // Whoever may read them may know what they are called.
    scope: undefined,
    response: streamsAnswer,
    successStatus: 200,
    handle: async ({ accountId }) => ({ streams: await directory.listStreams(accountId) }),
  });
}

function getStream({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/streams/:streamId',
    operationId: 'getStream',
    summary: 'One stream',
    scope: undefined,
    params: streamParams,
    response: streamAnswer,
    successStatus: 200,
    handle: ({ accountId, params }) => find(directory, accountId, params.streamId),
  });
}

function createStream({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/streams',
    operationId: 'createStream',
    summary: 'Create a stream',
    scope: 'admin',
    body: newStream,
    response: streamAnswer,
    successStatus: 201,
    handle: async ({ caller: { tokenId }, accountId, body }) => {
      const stream = await directory.createStream({ ...body, accountId });
      record({ operation: 'createStream', tokenId, accountId, targetId: stream.streamId });
      return stream;
    },
  });
}

function updateStream({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'PATCH',
    path: '/streams/:streamId',
    operationId: 'updateStream',
    summary: 'Rename a stream or change its retention',
    scope: 'admin',
    params: streamParams,
    body: streamChange,
    response: streamAnswer,
    successStatus: 200,
    handle: async ({ caller: { tokenId }, accountId, params: { streamId }, body }) => {
      await find(directory, accountId, streamId);
      const stream = await directory.updateStream(streamId, body);
      if (!stream) throw notFound(streamId);
      record({ operation: 'updateStream', tokenId, accountId, targetId: streamId });
      return stream;
    },
  });
}

function deleteStreamData(context: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'DELETE',
    path: '/streams/:streamId/data',
    operationId: 'deleteStreamData',
    summary: 'Delete everything a stream has received so far; reads hide it at once',
    scope: 'admin',
    params: streamParams,
    response: streamAnswer,
    successStatus: 200,
    handle: async ({ caller: { tokenId }, accountId, params: { streamId } }) => {
      const { directory, record } = context;
      const stream = await hideData(context, await find(directory, accountId, streamId));
      record({ operation: 'deleteStreamData', tokenId, accountId, targetId: streamId });
      await freeData(context, stream);
      return stream;
    },
  });
}

function deleteStream(context: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'DELETE',
    path: '/streams/:streamId',
    operationId: 'deleteStream',
    summary: 'Delete a stream that no receiver feeds, and its data',
    scope: 'admin',
    params: streamParams,
    response: undefined,
    successStatus: 204,
    handle: async ({ caller: { tokenId }, accountId, params: { streamId } }) => {
      const { directory, record } = context;
      const stream = await find(directory, accountId, streamId);
      await checkUnfed(directory, stream);
      await freeData(context, await hideData(context, stream));
      if (!(await directory.deleteStream(streamId))) throw notFound(streamId);
      record({ operation: 'deleteStream', tokenId, accountId, targetId: streamId });
    },
  });
}

async function find(directory: Directory, accountId: string, streamId: string): Promise<Stream> {
  const stream = await directory.getStream(streamId);
  if (stream?.accountId !== accountId) throw notFound(streamId);
  return stream;
}

/** From here on reads show nothing of what was received so far, and all that comes later. */
async function hideData({ directory, queue }: AdminContext, { streamId }: Stream): Promise<Stream> {
  const drawn = queue.drawLine();
  // In the same moment: a batch beyond the line must not count on labels before it.
  const forgotten = queue.forgetSeries();
  const [line] = await Promise.all([drawn, forgotten]);
  // A line may lie ahead of the clock: labels that came again before it fall behind it too.
  await queue.forgetSeries();
  const untilMs = Number(line / nanosPerMs);
  const dataDeletedUntil = new Date(untilMs).toISOString();
  const stream = await directory.updateStream(streamId, { dataDeletedUntil });
  if (!stream) throw notFound(streamId);
  return stream;
}

async function freeData({ store }: AdminContext, stream: Stream): Promise<void> {
  const untilMs = Date.parse(stream.dataDeletedUntil ?? '');
  await store.deleteStreamData(stream.accountId, stream.streamId, BigInt(untilMs) * nanosPerMs);
}

/** Checked before the data goes; the directory checks again when the stream does. */
async function checkUnfed(directory: Directory, stream: Stream): Promise<void> {
  const receivers = await directory.listReceivers(stream.accountId);
  const feeding = receivers.find((receiver) => receiver.streamId === stream.streamId);
  if (!feeding) return;
  throw new AppError(
    'conflict',
    `cannot delete stream ${stream.streamId}: receiver ${feeding.receiverId} feeds it; ` +
      'delete the receiver or give it another stream first',
  );
}

function notFound(streamId: string): AppError {
  return new AppError('not_found', `cannot find stream ${streamId} in this account`);
}
