/** Receivers in the control API. */
import type { Directory } from '../directory/port.ts';
import type { Receiver, ReceiverKind } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type ReceiverUrls, toReceiverUrls } from '../model/receiver-urls.ts';
import { toCanonicalCidr } from './cidr.ts';
import type { AdminContext, AdminOptions } from './context.ts';
import { type AdminRoute, defineAccountRoute } from './routes.ts';
import {
  newReceiver,
  receiverAnswer,
  receiverChange,
  receiverParams,
  receiversAnswer,
} from './schemas.ts';

const unlimited = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null };

export function receiverRoutes(context: AdminContext): AdminRoute[] {
  return [
    listReceivers(context),
    getReceiver(context),
    createReceiver(context),
    updateReceiver(context),
    deleteReceiver(context),
  ];
}

function listReceivers({ directory, options }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/receivers',
    operationId: 'listReceivers',
    summary: "The account's receivers",
    scope: 'admin',
    response: receiversAnswer,
    successStatus: 200,
    handle: async ({ accountId }) => ({
      receivers: (await directory.listReceivers(accountId)).map((receiver) =>
        toAnswer(receiver, options),
      ),
    }),
  });
}

function getReceiver({ directory, options }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/receivers/:receiverId',
    operationId: 'getReceiver',
    summary: 'One receiver, with the exact URLs to send to',
    scope: 'admin',
    params: receiverParams,
    response: receiverAnswer,
    successStatus: 200,
    handle: async ({ accountId, params }) =>
      toAnswer(await find(directory, accountId, params.receiverId), options),
  });
}

function createReceiver({ directory, options, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/receivers',
    operationId: 'createReceiver',
    summary: 'Create a receiver that feeds a stream',
    scope: 'admin',
    body: newReceiver,
    response: receiverAnswer,
    successStatus: 201,
    handle: async ({ caller: { tokenId }, accountId, body }) => {
      const receiver = await directory.createReceiver({
        ...body,
        accountId,
        allowedCidrs: body.allowedCidrs.map(toCanonicalCidr),
        limits: { ...unlimited, ...body.limits },
      });
      record({ operation: 'createReceiver', tokenId, accountId, targetId: receiver.receiverId });
      return toAnswer(receiver, options);
    },
  });
}

function updateReceiver({ directory, options, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'PATCH',
    path: '/receivers/:receiverId',
    operationId: 'updateReceiver',
    summary: 'Change a receiver: name, stream, activity, address ranges, each limit by itself',
    scope: 'admin',
    params: receiverParams,
    body: receiverChange,
    response: receiverAnswer,
    successStatus: 200,
    handle: async ({ caller: { tokenId }, accountId, params: { receiverId }, body }) => {
      await find(directory, accountId, receiverId);
      const { allowedCidrs, ...rest } = body;
      const receiver = await directory.updateReceiver(receiverId, {
        ...rest,
        ...(allowedCidrs && { allowedCidrs: allowedCidrs.map(toCanonicalCidr) }),
      });
      if (!receiver) throw notFound(receiverId);
      record({ operation: 'updateReceiver', tokenId, accountId, targetId: receiverId });
      return toAnswer(receiver, options);
    },
  });
}

function deleteReceiver({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'DELETE',
    path: '/receivers/:receiverId',
    operationId: 'deleteReceiver',
    summary: 'Delete a receiver and revoke its tokens; its data stays in the stream',
    scope: 'admin',
    params: receiverParams,
    response: undefined,
    successStatus: 204,
    handle: async ({ caller: { tokenId }, accountId, params: { receiverId } }) => {
      await find(directory, accountId, receiverId);
      if (!(await directory.deleteReceiver(receiverId))) throw notFound(receiverId);
      record({ operation: 'deleteReceiver', tokenId, accountId, targetId: receiverId });
    },
  });
}

async function find(
  directory: Directory,
  accountId: string,
  receiverId: string,
): Promise<Receiver> {
  const receiver = await directory.getReceiver(receiverId);
  if (receiver?.accountId !== accountId) throw notFound(receiverId);
  return receiver;
}

function toAnswer(
  receiver: Receiver,
  { ingestUrl }: AdminOptions,
): Receiver & ReceiverUrls[ReceiverKind] {
  return { ...receiver, ...toReceiverUrls(receiver, ingestUrl) };
}

function notFound(receiverId: string): AppError {
  return new AppError('not_found', `cannot find receiver ${receiverId} in this account`);
}
