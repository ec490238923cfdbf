/** What the app provides to pages: the API of the active account, and the session. */
import { createContext, useContext } from 'react';
import type { Api } from '../api/client.ts';
import type { WhoAmI } from '../api/models.ts';
import type { Session } from './session.ts';

export interface AppContext {
  readonly api: Api;
  readonly session: Session;
  /** Here, or in every browser. @throws ApiProblem: the session remains */
  readonly signOut: (isEverywhere: boolean) => Promise<void>;
  readonly switchAccount: (accountId: string) => void;
  /** Reloads the accounts of the token. */
  readonly refreshSession: () => void;
}

export const AppContext = createContext<AppContext | undefined>(undefined);

/** For components inside the signed-in app. */
export function useApp(): AppContext {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('useApp outside of the signed-in app');
  return app;
}

export function useScope(scope: WhoAmI['scopes'][number]): boolean {
  return useApp().session.scopes.includes(scope);
}
