/** Short names for types of the API. */
import type { operations } from './schema.d.ts';

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

export type Log = Answer<'getLog'>;
/** The explorer asks for whole logs. */
export type LogPage = Omit<Answer<'listLogs'>, 'logs'> & { readonly logs: Log[] };
export type Patterns = Answer<'getPatterns'>;
export type Comparison = Answer<'compareLogs'>;
export type Stats = Extract<Answer<'getStats'>, { rows: unknown }>;
export type StatsRow = Stats['rows'][number];
export type Histogram = Answer<'getHistogram'>;
export type Facet = Answer<'getFacets'>['facets'][number];
export type WhoAmI = Answer<'whoami'>;
export type Receiver = Answer<'listReceivers'>['receivers'][number];
export type Stream = Answer<'listStreams'>['streams'][number];
export type Token = Answer<'listTokens'>['tokens'][number];
type View = Answer<'listViews'>['views'][number];
export type SavedView = Pick<View, 'viewId' | 'name' | 'query'>;
export type Account = Answer<'listAccounts'>['accounts'][number];
type TransformChange =
  operations['updateReceiver']['requestBody']['content']['application/json']['transform'];
export type TransformStep = NonNullable<TransformChange>[number];
export type TransformPreview = Answer<'previewTransform'>;
export type Statistics = Answer<'getReceiverStatistics'>;
