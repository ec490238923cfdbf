/**
 * The session: whom the cookie of the service signs in, in all tabs, and the account that this tab
 * shows. No script can read the cookie. A plain store; React reads it through `useSession`.
 */
import { useSyncExternalStore } from 'react';
import { type Api, createApi, dataOf } from '../api/client.ts';
import type { WhoAmI } from '../api/models.ts';
import { ApiProblem } from '../api/problem.ts';
import { forgetDrafts } from './use-kept-draft.ts';
import { isOutage } from '../parts/feedback/outage.tsx';

export interface Session extends WhoAmI {
  readonly accountId: string;
}

export type SessionState =
  | { readonly phase: 'loading' }
  /** The service is unavailable; it is tried again. */
  | { readonly phase: 'waiting'; readonly problem: ApiProblem }
  /** Why there is no session; may be empty. */
  | {
      readonly phase: 'signed out';
      readonly reason: string;
      /** Name of the provider that signs people in; null = none. */
      readonly singleSignOn: string | null;
    }
  | { readonly phase: 'signed in'; readonly session: Session };

const retryMs = 5_000;
/** Of shared links. */
const accountParameter = 'account';
/** Of this tab; in local storage that of new tabs, the last one chosen. */
const accountKey = 'weir.account';
const hashPattern = /^#sign-in(?:=([\w-]+)|-failed=([\w-]+)|-done)$/;

type TabMessage = 'signed in' | 'signed out';

/** Why single sign-on failed. */
const failures: Readonly<Record<string, string>> = {
  declined: 'The provider has not signed you in.',
  expired: 'This sign-in was begun in another browser, or too long ago. Try again.',
  'not-granted':
    'You have no access: no rule in oidc.grants matches you. Ask the operator of Weir.',
  unavailable: 'The provider does not answer as expected. The log of Weir has the reason.',
};

export class SessionStore {
  #state: SessionState = { phase: 'loading' };
  readonly #listeners = new Set<() => void>();
  /** Tells the other tabs about a sign-in or sign-out. */
  readonly #tabs = new BroadcastChannel('weir.session');
  readonly #api = createApi(undefined, () => {});
  #singleSignOn: string | null = null;
  /** After an outage. */
  #retry: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly current = (): SessionState => this.#state;

  /** Follows the session of the browser. @returns stops following */
  follow(): () => void {
    const refresh = () => void this.refresh();
    const follow = ({ data }: MessageEvent<TabMessage>) => {
      if (data === 'signed out') forgetDrafts();
      refresh();
    };
    this.#tabs.addEventListener('message', follow);
    addEventListener('hashchange', refresh);
    refresh();
    return () => {
      clearTimeout(this.#retry);
      this.#tabs.removeEventListener('message', follow);
      removeEventListener('hashchange', refresh);
    };
  }

  /**
   * Loads the session, or begins one with the link in the URL, which a signed-in browser ignores.
   * Tries again while the service is unavailable.
   */
  async refresh(hash = takeHash()): Promise<void> {
    const { code, failure, isNew } = hash;
    clearTimeout(this.#retry);
    try {
      const { isSignedIn, singleSignOn } = await dataOf(this.#api.GET('/api/v1/session'));
      this.#singleSignOn = singleSignOn;
      if (isSignedIn) {
        await this.#load();
        if (isNew) this.#tell('signed in');
      } else if (code !== undefined) await this.signIn(code);
      else this.ended(failure ?? (this.#state.phase === 'signed out' ? this.#state.reason : ''));
    } catch (error) {
      // A session remains: the next call of the page reports the error.
      if (this.#state.phase === 'signed in') return;
      if (isOutage(error)) {
        this.#set({ phase: 'waiting', problem: error });
        this.#retry = setTimeout(() => void this.refresh(hash), retryMs);
      } else this.ended(messageOf(error));
    }
  }

  /** @param secret token or code of a link @throws ApiProblem */
  async signIn(secret: string): Promise<void> {
    const headers = { authorization: `Bearer ${secret}` };
    await this.#api.POST('/api/v1/session', { headers });
    await this.#load();
    this.#tell('signed in');
  }

  /** @throws ApiProblem: the session remains */
  async signOut(isEverywhere: boolean): Promise<void> {
    try {
      if (isEverywhere) await this.#api.DELETE('/api/v1/sessions');
      else await this.#api.DELETE('/api/v1/session');
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 401)) throw error;
    }
    forgetDrafts();
    this.ended();
    this.#tell('signed out');
  }

  switchAccount(accountId: string): void {
    if (this.#state.phase !== 'signed in') return;
    sessionStorage.setItem(accountKey, accountId);
    localStorage.setItem(accountKey, accountId);
    this.#set({ phase: 'signed in', session: { ...this.#state.session, accountId } });
  }

  ended(reason = ''): void {
    this.#set({ phase: 'signed out', reason, singleSignOn: this.#singleSignOn });
  }

  async #load(): Promise<void> {
    const whoami = await dataOf(this.#api.GET('/api/v1/admin/whoami'));
    const { accounts } = whoami;
    const linked = takeLinkedAccount();
    const chosen = [
      linked,
      ...[sessionStorage, localStorage].map((one) => one.getItem(accountKey)),
    ];
    const [account = accounts[0]] = chosen.flatMap(
      (id) => accounts.find(({ accountId }) => accountId === id) ?? [],
    );
    if (account === undefined) throw new Error('cannot sign in: this token has no account');
    sessionStorage.setItem(accountKey, account.accountId);
    this.#set({ phase: 'signed in', session: { ...whoami, accountId: account.accountId } });
  }

  #tell(message: TabMessage): void {
    this.#tabs.postMessage(message);
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export function useSession(store: SessionStore): SessionState {
  return useSyncExternalStore(store.subscribe, store.current);
}

export function apiOf(store: SessionStore, { accountId }: Session): Api {
  return createApi(accountId, () =>
    store.ended('The session is over: it has expired, or its token is no longer valid.'),
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of single sign-on, which leads back to the open page. */
export function singleSignOnLink(): string {
  const opened = new URLSearchParams({ opened: location.pathname + location.search });
  return `/api/v1/session/oidc?${opened.toString()}`;
}

/** The account of a shared link; removes it from the URL, where it would outlast a switch. */
function takeLinkedAccount(): string | null {
  const url = new URL(location.href);
  const linked = url.searchParams.get(accountParameter);
  if (linked === null) return null;
  url.searchParams.delete(accountParameter);
  history.replaceState(history.state, '', url);
  return linked;
}

/** @param search without `?`; may be empty */
export function toSharedLink(path: string, search: string, accountId: string): string {
  const account = `${accountParameter}=${encodeURIComponent(accountId)}`;
  return `${location.origin}${path}?${search === '' ? '' : `${search}&`}${account}`;
}

interface Hash {
  /** Of a sign-in link. */
  readonly code?: string;
  /** Why single sign-on failed. */
  readonly failure?: string;
  /** Single sign-on has just begun the session. */
  readonly isNew?: true;
}

/** Removes it from the URL, so that a code is in no history and no copied address. */
function takeHash(): Hash {
  const [found, code, failure] = hashPattern.exec(location.hash) ?? [];
  if (found === undefined) return {};
  history.replaceState(history.state, '', location.href.replace(/#.*$/, ''));
  if (code !== undefined) return { code };
  if (failure === undefined) return { isNew: true };
  return { failure: failures[failure] ?? 'The sign-in failed.' };
}
