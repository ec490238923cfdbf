/** Receivers in the control API. */
import type { Directory } from '../directory/port.ts';
import type { Receiver, ReceiverKind } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { TransformStep } from '../model/transform.ts';
import { previewTransform } from '../transform/sample-event.ts';
import { toReceiverUrls } from '../model/receiver-urls.ts';
import { toCanonicalCidr } from './cidr.ts';
import type { AdminContext } from './context.ts';
import { defineAccountRoute, type DefinedRoute, notFound, requireOwned } from './routes.ts';
import {
  newReceiver,
  receiverAnswer,
  receiverChange,
  receiverParams,
  receiversAnswer,
  transformPreview,
  transformPreviewAnswer,
} from './schemas.ts';

/** A hundred logs of the usual size, which are far more than other bodies. */
const maxPreviewBytes = 1024 * 1024;

const unlimited = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null };

export const receiverRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /receivers',
    operationId: 'listReceivers',
    summary: "The account's receivers",
    response: receiversAnswer,
    handle: async ({ accountId }, { directory, options }) => {
      const receivers = await directory.listReceivers(accountId);
      return { receivers: receivers.map((receiver) => withUrls(receiver, options)) };
    },
  }),
  defineAccountRoute({
    endpoint: 'GET /receivers/:receiverId',
    operationId: 'getReceiver',
    summary: 'One receiver, with the exact URLs to send to',
    params: receiverParams,
    response: receiverAnswer,
    handle: async ({ accountId, params }, { directory, options }) =>
      withUrls(await find(directory, accountId, params.receiverId), options),
  }),
  defineAccountRoute({
    endpoint: 'POST /receivers',
    operationId: 'createReceiver',
    summary: 'Create a receiver that feeds a stream',
    body: newReceiver,
    response: receiverAnswer,
    successStatus: 201,
    handle: async ({ accountId, body }, { directory, record, options }) => {
      checkTransform(body.kind, body.transform);
      const receiver = await directory.createReceiver({
        ...body,
        accountId,
        allowedCidrs: body.allowedCidrs.map(toCanonicalCidr),
        limits: { ...unlimited, ...body.limits },
      });
      record(receiver.receiverId);
      return withUrls(receiver, options);
    },
  }),
  defineAccountRoute({
    endpoint: 'PATCH /receivers/:receiverId',
    operationId: 'updateReceiver',
    summary: 'Change a receiver: name, stream, active state, address ranges, single limits',
    params: receiverParams,
    body: receiverChange,
    response: receiverAnswer,
    handle: async ({ accountId, params: { receiverId }, body }, { directory, record, options }) => {
      const { kind } = await find(directory, accountId, receiverId);
      const { allowedCidrs, ...rest } = body;
      checkTransform(kind, body.transform);
      const receiver = await directory.updateReceiver(receiverId, {
        ...rest,
        ...(allowedCidrs && { allowedCidrs: allowedCidrs.map(toCanonicalCidr) }),
      });
      if (!receiver) throw notFound('receiver', receiverId);
      record(receiverId);
      return withUrls(receiver, options);
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /receivers/:receiverId',
    operationId: 'deleteReceiver',
    summary: 'Delete a receiver and revoke its tokens; its data stays in the stream',
    params: receiverParams,
    handle: async ({ accountId, params: { receiverId } }, { directory, record }) => {
      await find(directory, accountId, receiverId);
      if (!(await directory.deleteReceiver(receiverId))) throw notFound('receiver', receiverId);
      record(receiverId);
    },
  }),

  /** Stores nothing: the samples come with the request. */
  defineAccountRoute({
    endpoint: 'POST /receivers/:receiverId/transform/preview',
    operationId: 'previewTransform',
    summary: 'Apply a transform to sample logs, without saving it',
    params: receiverParams,
    body: transformPreview,
    maxBodyBytes: maxPreviewBytes,
    response: transformPreviewAnswer,
    handle: async ({ accountId, params: { receiverId }, body }, { directory }) => {
      const { kind, transform } = await find(directory, accountId, receiverId);
      const steps = body.transform ?? transform;
      checkTransform(kind, steps);
      const previewed = await previewTransform(steps, body.samples);
      const results = previewed.map(({ after, changes }) => ({
        ...(after !== undefined && { after }),
        changes,
      }));
      return { results, dropped: results.filter(({ after }) => after === undefined).length };
    },
  }),
];

/** @throws AppError `malformed` */
function checkTransform(kind: ReceiverKind, steps: readonly TransformStep[] = []): void {
  if (kind !== 'prometheus' || steps.length === 0) return;
  throw new AppError('malformed', 'cannot transform metrics: a receiver of logs has a transform');
}

async function find(
  directory: Directory,
  accountId: string,
  receiverId: string,
): Promise<Receiver> {
  const receiver = await directory.getReceiver(receiverId);
  return requireOwned(receiver, 'receiver', { accountId, id: receiverId });
}

function withUrls(receiver: Receiver, { ingestUrl, caFile }: AdminContext['options']) {
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(ingestUrl).hostname);
  const urls = toReceiverUrls(receiver, ingestUrl);
  return { ...receiver, ...urls, ...(isHere && caFile !== undefined && { caFile }) };
}
