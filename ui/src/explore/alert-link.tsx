/** Leads from a search to a new rule that counts what it finds. */
import { Link } from 'wouter';
import { useScope } from '../app/context.ts';
import { toAlertOfSearch } from '../links/alert-of-search.ts';
import { Icon } from '../parts/controls/icon.tsx';
import styles from './alert-link.module.css';

export function AlertLink({ query }: { query: string }) {
  if (!useScope('admin')) return null;
  const words = 'Alert from this search';
  return (
    <Link href={toAlertOfSearch(query)} className={styles.link} aria-label={words} title={words}>
      <Icon name="bell" />
    </Link>
  );
}
