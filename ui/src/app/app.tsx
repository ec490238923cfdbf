/** The explorer: sign-in form, or the shell with a page. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { Toasts } from '../parts/feedback/toasts.tsx';
import { AppContext } from './context.ts';
import { apiOf, type Session, SessionStore, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import { listenToKeys } from './shortcuts.ts';
import { SignIn } from './sign-in.tsx';

export function App() {
  const [store] = useState(() => new SessionStore());
  const session = useSession(store);
  useEffect(listenToKeys, []);
  return (
    <Toasts>
      {session === undefined ? (
        <SignIn store={store} />
      ) : (
        // Remounted per account, so that no data of one account shows in another.
        <SignedIn key={session.token + session.accountId} store={store} session={session} />
      )}
    </Toasts>
  );
}

function SignedIn({ store, session }: { store: SessionStore; session: Session }) {
  const [client] = useState(createQueryClient);
  const context = useMemo(
    () => ({
      api: apiOf(store, session),
      session,
      signOut: () => store.signOut(),
      switchAccount: (accountId: string) => store.switchAccount(accountId),
      // On failure the next call of the page reports the error.
      refreshSession: () => void store.signIn(session.token).catch(() => undefined),
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
      queries: {
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
