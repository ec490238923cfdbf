/** The explorer: sign-in form, or the shell with a page. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { Loading } from '../parts/feedback/loading.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { Toasts } from '../parts/feedback/toasts.tsx';
import { Page } from '../parts/layout/page.tsx';
import { AppContext } from './context.ts';
import { apiOf, type Session, SessionStore, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import { listenToKeys } from '../parts/controls/shortcuts.ts';
import { SignIn } from './sign-in.tsx';

export function App() {
  const [store] = useState(() => new SessionStore());
  useEffect(listenToKeys, []);
  useEffect(() => store.follow(), [store]);
  return (
    <Toasts>
      <Current store={store} />
    </Toasts>
  );
}

function Current({ store }: { store: SessionStore }) {
  const state = useSession(store);
  if (state.phase === 'loading') return <Loading />;
  if (state.phase === 'waiting') {
    return (
      <main>
        <Page title="Weir">
          <ProblemNotice error={state.problem} />
          <p>Trying again every few seconds.</p>
        </Page>
      </main>
    );
  }
  if (state.phase === 'signed out') return <SignIn store={store} state={state} />;
  const { session } = state;
  // Remounted per account, so that no data of one account shows in another.
  return <SignedIn key={session.tokenId + session.accountId} store={store} session={session} />;
}

function SignedIn({ store, session }: { store: SessionStore; session: Session }) {
  const [client] = useState(createQueryClient);
  const context = useMemo(
    () => ({
      api: apiOf(store, session),
      session,
      signOut: (isEverywhere: boolean) => store.signOut(isEverywhere),
      switchAccount: (accountId: string) => store.switchAccount(accountId),
      refreshSession: () => void store.refresh(),
    }),
    [store, session],
  );
  return (
    <AppContext value={context}>
      <QueryClientProvider client={client}>
        <Shell />
      </QueryClientProvider>
    </AppContext>
  );
}

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // Without internet access the browser may still reach Weir, on localhost or a local network.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        // Retries only when the service was unavailable.
        retry: (attempts, error) =>
          attempts < 3 && error instanceof ApiProblem && [0, 429, 503].includes(error.status),
        // Three seconds in total; then the error is shown.
        retryDelay: (attempts) => 400 * 2 ** attempts,
        refetchOnWindowFocus: false,
        staleTime: 5_000,
      },
    },
  });
}
