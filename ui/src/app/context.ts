/** What every page may ask of the app around it: the API as one account, and who is signed in. */
import { createContext, useContext } from 'react';
import type { Api } from '../api/client.ts';
import type { WhoAmI } from '../api/models.ts';
import type { Session } from './session.ts';

export interface AppContext {
  readonly api: Api;
  readonly session: Session;
  readonly signOut: () => void;
  readonly switchAccount: (accountId: string) => void;
  /** Asks again which accounts there are. */
  readonly refreshSession: () => void;
}

export const AppContext = createContext<AppContext | undefined>(undefined);

/** Inside the app only, where somebody is signed in. */
export function useApp(): AppContext {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('useApp outside of the signed-in app');
  return app;
}

export function useScope(scope: WhoAmI['scopes'][number]): boolean {
  return useApp().session.scopes.includes(scope);
}
