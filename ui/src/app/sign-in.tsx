/** Sign-in form for an access token. */
import { type SubmitEvent, useState } from 'react';
import { Button } from '../parts/controls/button.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { messageOf, type SessionState, type SessionStore, singleSignOnLink } from './session.ts';
import styles from './sign-in.module.css';
import { Wordmark } from './wordmark.tsx';

export interface SignInProps {
  readonly store: SessionStore;
  readonly state: Extract<SessionState, { phase: 'signed out' }>;
}

export function SignIn({ store, state: { reason, singleSignOn } }: SignInProps) {
  const [token, setToken] = useState('');
  const [fault, setFault] = useState('');
  const [isBusy, setIsBusy] = useState(false);

  const signIn = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const secret = token.trim();
    if (!secret.startsWith('wra_')) {
      setFault('An access token starts with wra_. Ingest tokens (wri_…) cannot read.');
      return;
    }
    setIsBusy(true);
    try {
      await store.signIn(secret);
    } catch (error) {
      setFault(messageOf(error));
      setIsBusy(false);
    }
  };

  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={(event) => void signIn(event)}>
        <Wordmark />
        <h1 className={styles.title}>Sign in</h1>
        <label className={styles.field}>
          Access token
          <input
            type="password"
            name="token"
            autoComplete="off"
            autoFocus
            spellCheck={false}
            placeholder="wra_…"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {(fault || reason) !== '' && (
          <Notice tone="danger">
            <p className={styles.fault}>{fault || reason}</p>
          </Notice>
        )}
        <Button type="submit" tone="primary" isDisabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
        {singleSignOn !== null && (
          <a
            className={styles.provider}
            href={singleSignOnLink()}
            onClick={(event) => {
              // The page may be another one than at the rendering.
              event.currentTarget.href = singleSignOnLink();
            }}
          >
            Sign in with {singleSignOn}
          </a>
        )}
        <p className={styles.hint}>
          The first access token is in <code>quickstart.json</code> in the data directory of Weir;
          more are created with <code>weir token create</code>. <code>weir open</code> prints a link
          that signs in without it.
        </p>
      </form>
    </main>
  );
}
