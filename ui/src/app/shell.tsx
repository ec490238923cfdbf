/** The frame around every page: navigation, account, theme, help. */
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { Button } from '../parts/controls/button.tsx';
import { ErrorBoundary } from '../parts/feedback/error-boundary.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { Select } from '../parts/controls/select.tsx';
import { Menu } from '../parts/controls/menu.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { OutageBanner } from '../parts/feedback/outage.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { Page as Frame } from '../parts/layout/page.tsx';
import { useApp } from './context.ts';
import { HelpSheet } from './help-sheet.tsx';
import { homeOf, type Page, pages } from './pages.tsx';
import { changePreferences, type Theme, usePreferences } from './preferences.ts';
import { messageOf } from './session.ts';
import styles from './shell.module.css';
import { useShortcuts } from '../parts/controls/shortcuts.ts';
import { Wordmark } from './wordmark.tsx';

export function Shell() {
  const { session } = useApp();
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  useShortcuts([
    {
      key: '?',
      description: 'Show this help',
      group: 'Everywhere',
      worksBehindSheets: true,
      run: () => setIsHelpOpen(true),
    },
  ]);
  return (
    <div className={styles.shell}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div>
        <Header onHelp={() => setIsHelpOpen(true)} />
        <OutageBanner />
      </div>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Switch>
          {pages.map((page) => (
            <Route key={page.path} path={page.path}>
              {/* One for each page: the others work while one fails. */}
              <ErrorBoundary key={page.path}>
                <Suspense fallback={<Loading />}>
                  <Allowed page={page} />
                </Suspense>
              </ErrorBoundary>
            </Route>
          ))}
          <Route path="/">
            <Redirect to={homeOf(session.scopes)} replace />
          </Route>
          <Route>
            <Frame title="No such page">
              <Notice tone="quiet">
                The address may be incomplete, or belong to another version.{' '}
                <Link href="/">Go to the start page</Link>
              </Notice>
            </Frame>
          </Route>
        </Switch>
      </main>
      <HelpSheet isOpen={isHelpOpen} onClose={() => setIsHelpOpen(false)} />
    </div>
  );
}

/** Shown instead of a page whose scope the token lacks. */
function Allowed({ page }: { page: Page }) {
  const { session } = useApp();
  useEffect(() => {
    document.title = `${page.title} · Weir`;
  }, [page]);
  if (session.scopes.includes(page.scope)) return <page.Page />;
  return (
    <Frame title={page.title}>
      <Notice tone="warning">
        This page needs a token with the scope <code>{page.scope}</code>; yours has{' '}
        {session.scopes.join(', ')}.
      </Notice>
    </Frame>
  );
}

function Header({ onHelp }: { onHelp: () => void }) {
  const { session, signOut, switchAccount } = useApp();
  const toast = useToast();
  const leave = (isEverywhere: boolean) =>
    void signOut(isEverywhere).catch((error: unknown) =>
      toast(`You are still signed in: ${messageOf(error)}`),
    );
  return (
    <header className={styles.header}>
      <Link href={homeOf(session.scopes)} className={styles.home} aria-label="Weir: start">
        <Wordmark />
      </Link>
      <Navigation />
      <div className={styles.tools}>
        {session.accounts.length > 1 && (
          <Select
            className={styles.account}
            label="Account"
            value={session.accountId}
            choices={session.accounts.map(({ accountId, name }) => [accountId, name] as const)}
            onChange={switchAccount}
          />
        )}
        <ThemeButton />
        <Button tone="bare" label="Help and keyboard shortcuts" onPress={onHelp}>
          <Icon name="help" />
        </Button>
        <Menu
          label="Sign out"
          icon="sign-out"
          items={[
            { label: 'Sign out', onPick: () => leave(false) },
            { label: 'Sign out in every browser', onPick: () => leave(true) },
          ]}
        />
      </div>
    </header>
  );
}

function Navigation() {
  const { session } = useApp();
  const [location] = useLocation();
  const nav = useRef<HTMLElement>(null);
  const shown = pages.filter(({ label, scope }) => label && session.scopes.includes(scope));
  const current = shown.find(({ path }) => location.startsWith(path))?.path;
  // On a phone the current link may be outside the visible part of the navigation.
  useEffect(() => {
    if (current === undefined) return;
    nav.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav ref={nav} className={styles.nav} aria-label="Pages">
      {shown.map(({ path, label }) => (
        <Link
          key={path}
          href={path}
          className={styles.link}
          aria-current={path === current ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
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
