/** Saved views in the control API: searches that the readers of an account share. */
import type { Directory } from '../directory/port.ts';
import type { View } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { AdminContext } from './context.ts';
import { type AdminRoute, defineAccountRoute } from './routes.ts';
import { newView, viewAnswer, viewChange, viewParams, viewsAnswer } from './schemas.ts';

const maxViewsPerAccount = 1_000;
const scope = 'logs:read';

export function viewRoutes(context: AdminContext): AdminRoute[] {
  return [
    listViews(context),
    getView(context),
    createView(context),
    updateView(context),
    deleteView(context),
  ];
}

function listViews({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/views',
    operationId: 'listViews',
    summary: "The account's saved views, by name",
    scope,
    response: viewsAnswer,
    successStatus: 200,
    handle: async ({ accountId }) => ({
      views: (await directory.listViews(accountId)).map(toAnswer),
    }),
  });
}

function getView({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/views/:viewId',
    operationId: 'getView',
    summary: 'One saved view',
    scope,
    params: viewParams,
    response: viewAnswer,
    successStatus: 200,
    handle: async ({ accountId, params }) =>
      toAnswer(await find(directory, accountId, params.viewId)),
  });
}

function createView({ directory, audit }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/views',
    operationId: 'createView',
    summary: 'Save a view of the explorer under a name',
    scope,
    body: newView,
    response: viewAnswer,
    successStatus: 201,
    handle: async ({ caller: { tokenId }, accountId, body }) => {
      const view = await directory.createView({ ...body, accountId }, maxViewsPerAccount);
      audit({ operation: 'createView', tokenId, accountId, targetId: view.viewId });
      return toAnswer(view);
    },
  });
}

function updateView({ directory, audit }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'PATCH',
    path: '/views/:viewId',
    operationId: 'updateView',
    summary: 'Rename a saved view, or save another search under its name',
    scope,
    params: viewParams,
    body: viewChange,
    response: viewAnswer,
    successStatus: 200,
    handle: async ({ caller: { tokenId }, accountId, params: { viewId }, body }) => {
      await find(directory, accountId, viewId);
      const view = await directory.updateView(viewId, body);
      if (!view) throw notFound(viewId);
      audit({ operation: 'updateView', tokenId, accountId, targetId: viewId });
      return toAnswer(view);
    },
  });
}

function deleteView({ directory, audit }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'DELETE',
    path: '/views/:viewId',
    operationId: 'deleteView',
    summary: 'Delete a saved view',
    scope,
    params: viewParams,
    response: undefined,
    successStatus: 204,
    handle: async ({ caller: { tokenId }, accountId, params: { viewId } }) => {
      await find(directory, accountId, viewId);
      if (!(await directory.deleteView(viewId))) throw notFound(viewId);
      audit({ operation: 'deleteView', tokenId, accountId, targetId: viewId });
    },
  });
}

async function find(directory: Directory, accountId: string, viewId: string): Promise<View> {
  const view = await directory.getView(viewId);
  if (view?.accountId !== accountId) throw notFound(viewId);
  return view;
}

function toAnswer({ accountId: _, ...view }: View): Omit<View, 'accountId'> {
  return view;
}

function notFound(viewId: string): AppError {
  return new AppError('not_found', `cannot find view ${viewId} in this account`);
}
