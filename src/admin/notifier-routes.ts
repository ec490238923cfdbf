/** Destinations of alerts in the control API. Secrets are written and never answered. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { type Notifier, notifierKinds } from '../model/rules.ts';
import { messageOf } from '../std/error-text.ts';
import { defineAccountRoute, type DefinedRoute, notFound } from './routes.ts';
import { nameText } from './schemas.ts';

const maxNotifiers = 20;

const notifierId = z.guid().toLowerCase();
const kind = z
  .enum(notifierKinds)
  .describe("alertmanager: Alertmanager's API v2; webhook: the body of Alertmanager's webhooks.");
const url = z
  .url({ protocol: /^https?$/, error: 'must be a URL such as https://hooks.example.com/alerts' })
  .max(2_000)
  .describe('Of the webhook, or the base URL of Alertmanager.');
const secret = z.string().max(1_000).default('').describe('Signs webhooks.');

const time = z.string().meta({ format: 'date-time' });

const newNotifier = z.strictObject({ name: nameText, kind, url, secret });
const answer = z.object({
  notifierId,
  name: nameText,
  kind,
  url,
  createdAt: time,
  lastSuccessAt: time.nullable().describe('When it last took alerts; null = never.'),
  lastFailureAt: time.nullable().describe('When alerts last failed to reach it; null = never.'),
  lastFailure: z.string().nullable().describe('Why they failed then.'),
});

export const notifierRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /notifiers',
    operationId: 'listNotifiers',
    summary: "The account's notifiers, by name",
    response: z.object({ notifiers: z.array(answer) }),
    handle: async ({ accountId }, { directory }) => ({
      notifiers: (await directory.listNotifiers(accountId)).map(toAnswer),
    }),
  }),
  defineAccountRoute({
    endpoint: 'POST /notifiers',
    operationId: 'createNotifier',
    summary: 'Create a notifier, which gets all alerts of the account',
    body: newNotifier,
    response: answer,
    successStatus: 201,
    handle: async ({ accountId, body }, { directory, audit, checkNotifierUrl }) => {
      try {
        checkNotifierUrl(body.url);
      } catch (cause) {
        throw new AppError('malformed', messageOf(cause), { cause, parameter: 'url' });
      }
      const notifier = await directory.createNotifier({ ...body, accountId }, maxNotifiers);
      audit(notifier.notifierId);
      return toAnswer(notifier);
    },
  }),
  defineAccountRoute({
    endpoint: 'DELETE /notifiers/:notifierId',
    operationId: 'deleteNotifier',
    summary: 'Delete a notifier',
    params: z.object({ notifierId }),
    handle: async ({ accountId, params }, { directory, audit }) => {
      const isDeleted = await directory.deleteNotifier(accountId, params.notifierId);
      if (!isDeleted) throw notFound('notifier', params.notifierId);
      audit(params.notifierId);
    },
  }),
];

function toAnswer({ accountId: _, secret: _secret, ...notifier }: Notifier) {
  return notifier;
}
