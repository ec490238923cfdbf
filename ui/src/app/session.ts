/**
 * The session: the access token (kept for this tab only), its accounts and the active one. A plain
 * store; React reads it through `useSession`.
 */
import { useSyncExternalStore } from 'react';
import { type Api, createApi, dataOf } from '../api/client.ts';
import type { WhoAmI } from '../api/models.ts';

export interface Session {
  readonly token: string;
  readonly scopes: WhoAmI['scopes'];
  readonly accounts: WhoAmI['accounts'];
  readonly accountId: string;
}

/** Session storage is cleared when the tab is closed. */
const storageKey = 'weir.session';

export class SessionStore {
  #session: Session | undefined = read();
  /** Why the last session ended, shown on the sign-in form. */
  #farewell = '';
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly current = (): Session | undefined => this.#session;

  get farewell(): string {
    return this.#farewell;
  }

  /** @throws ApiProblem for an invalid token */
  async signIn(token: string): Promise<void> {
    const api = createApi({ token, accountId: undefined }, () => {});
    const { scopes, accounts } = await dataOf(api.GET('/api/v1/admin/whoami'));
    const first = accounts[0];
    if (first === undefined) throw new Error('cannot sign in: this token has no account');
    const known = accounts.find(({ accountId }) => accountId === this.#session?.accountId);
    this.#set({ token, scopes, accounts, accountId: (known ?? first).accountId });
  }

  switchAccount(accountId: string): void {
    if (this.#session !== undefined) this.#set({ ...this.#session, accountId });
  }

  signOut(reason = ''): void {
    this.#farewell = reason;
    this.#set(undefined);
  }

  #set(session: Session | undefined): void {
    this.#session = session;
    if (session === undefined) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, JSON.stringify(session));
    for (const listener of this.#listeners) listener();
  }
}

export function useSession(store: SessionStore): Session | undefined {
  return useSyncExternalStore(store.subscribe, store.current);
}

export function apiOf(store: SessionStore, { token, accountId }: Session): Api {
  return createApi({ token, accountId }, () =>
    store.signOut('This token is no longer valid: it was revoked, was deleted or has expired.'),
  );
}

function read(): Session | undefined {
  try {
    return (
      (JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Session | null) ?? undefined
    );
  } catch {
    return undefined;
  }
}
