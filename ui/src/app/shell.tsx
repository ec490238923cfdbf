/** The frame around every page: navigation, account, theme, help. */
import { Suspense, useEffect, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { Button } from '../parts/button.tsx';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Notice } from '../parts/notice.tsx';
import { useApp } from './context.ts';
import { HelpSheet } from './help-sheet.tsx';
import { type Page, pages } from './pages.tsx';
import { changePreferences, type Theme, usePreferences } from './preferences.ts';
import styles from './shell.module.css';
import { useShortcuts } from './shortcuts.ts';
import { Wordmark } from './wordmark.tsx';

export function Shell() {
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  useShortcuts([
    {
      key: '?',
      description: 'Show this help',
      group: 'Everywhere',
      run: () => setIsHelpOpen(true),
    },
  ]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <Header onHelp={() => setIsHelpOpen(true)} />
      <main id="main" className={styles.main} tabIndex={-1}>
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <Switch>
              {pages.map((page) => (
                <Route key={page.path} path={page.path}>
                  <Allowed page={page} />
                </Route>
              ))}
              <Route path="/">
                <Redirect to="/explore/logs" replace />
              </Route>
              <Route>
                <Notice tone="quiet">There is no such page.</Notice>
              </Route>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </main>
      <HelpSheet isOpen={isHelpOpen} onClose={() => setIsHelpOpen(false)} />
    </div>
  );
}

/** A page whose scope the token lacks would only fail; this says why instead. */
function Allowed({ page }: { page: Page }) {
  const { session } = useApp();
  useEffect(() => {
    document.title = `${page.title} · Weir`;
  }, [page]);
  if (session.scopes.includes(page.scope)) return <page.Page />;
  return (
    <Notice tone="warning">
      This page needs a token with the scope <code>{page.scope}</code>; yours has{' '}
      {session.scopes.join(', ')}.
    </Notice>
  );
}

function Header({ onHelp }: { onHelp: () => void }) {
  const { session, signOut, switchAccount } = useApp();
  const [location] = useLocation();
  const shown = pages.filter(({ label, scope }) => label && session.scopes.includes(scope));
  return (
    <header className={styles.header}>
      <Link href="/explore/logs" className={styles.home} aria-label="Weir: logs">
        <Wordmark />
      </Link>
      <nav className={styles.nav} aria-label="Pages">
        {shown.map(({ path, label }) => (
          <Link
            key={path}
            href={path}
            className={styles.link}
            aria-current={location.startsWith(path) ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className={styles.tools}>
        {session.accounts.length > 1 && (
          <select
            className={styles.account}
            aria-label="Account"
            value={session.accountId}
            onChange={(event) => switchAccount(event.target.value)}
          >
            {session.accounts.map(({ accountId, name }) => (
              <option key={accountId} value={accountId}>
                {name}
              </option>
            ))}
          </select>
        )}
        <ThemeButton />
        <Button tone="bare" label="Help and keyboard shortcuts" onPress={onHelp}>
          <Icon name="help" />
        </Button>
        <Button tone="bare" label="Sign out" onPress={signOut}>
          <Icon name="sign-out" />
        </Button>
      </div>
    </header>
  );
}

const nextTheme = { system: 'light', light: 'dark', dark: 'system' } as const satisfies Record<
  Theme,
  Theme
>;

function ThemeButton() {
  const { theme } = usePreferences();
  return (
    <Button
      tone="bare"
      label={`Theme: ${theme}; switch to ${nextTheme[theme]}`}
      onPress={() => changePreferences({ theme: nextTheme[theme] })}
    >
      <Icon name={theme === 'system' ? 'contrast' : theme === 'light' ? 'sun' : 'moon'} />
    </Button>
  );
}
