/** Saved views in the control API: searches that the readers of an account share. */
import type { Directory } from '../directory/port.ts';
import type { View } from '../model/account.ts';
import { defineAccountRoute, type DefinedRoute, notFound, requireOwned } from './routes.ts';
import { newView, viewAnswer, viewChange, viewParams, viewsAnswer } from './schemas.ts';

const maxViewsPerAccount = 1_000;
const scope = 'logs:read';

export const viewRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /views',
    operationId: 'listViews',
    summary: "The account's saved views, by name",
    scope,
    response: viewsAnswer,
    handle: async ({ accountId }, { directory }) => ({
      views: (await directory.listViews(accountId)).map(toAnswer),
    }),
  }),
  defineAccountRoute({
    endpoint: 'GET /views/:viewId',
    operationId: 'getView',
    summary: 'One saved view',
    scope,
    params: viewParams,
    response: viewAnswer,
    handle: async ({ accountId, params }, { directory }) =>
      toAnswer(await find(directory, accountId, params.viewId)),
  }),
  defineAccountRoute({
    endpoint: 'POST /views',
    operationId: 'createView',
    summary: 'Save a view of the explorer under a name',
    scope,
    body: newView,
    response: viewAnswer,
    successStatus: 201,
    handle: async ({ accountId, body }, { directory, audit }) => {
      const view = await directory.createView({ ...body, accountId }, maxViewsPerAccount);
      audit(view.viewId);
      return toAnswer(view);
    },
  }),
  defineAccountRoute({
    endpoint: 'PATCH /views/:viewId',
    operationId: 'updateView',
    summary: 'Rename a saved view, or save another search under its name',
    scope,
    params: viewParams,
    body: viewChange,
    response: viewAnswer,
    handle: async ({ accountId, params: { viewId }, body }, { directory, audit }) => {
      await find(directory, accountId, viewId);
      const view = await directory.updateView(viewId, body);
      if (!view) throw notFound('view', viewId);
      audit(viewId);
      return toAnswer(view);
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /views/:viewId',
    operationId: 'deleteView',
    summary: 'Delete a saved view',
    scope,
    params: viewParams,
    handle: async ({ accountId, params: { viewId } }, { directory, audit }) => {
      await find(directory, accountId, viewId);
      if (!(await directory.deleteView(viewId))) throw notFound('view', viewId);
      audit(viewId);
    },
  }),
];

async function find(directory: Directory, accountId: string, viewId: string): Promise<View> {
  return requireOwned(await directory.getView(viewId), 'view', { accountId, id: viewId });
}

function toAnswer({ accountId: _, ...view }: View): Omit<View, 'accountId'> {
  return view;
}
