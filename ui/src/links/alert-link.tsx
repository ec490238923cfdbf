/** Leads from what is seen to a new rule about it. */
import { Link } from 'wouter';
import { useScope } from '../app/context.ts';
import { Icon } from '../parts/controls/icon.tsx';
import styles from './alert-link.module.css';

export interface AlertLinkProps {
  /** In the query language of logs, or PromQL that selects what raises the alert. */
  readonly of: { readonly query: string; readonly streamId?: string } | { readonly expr: string };
  /** Accessible name. */
  readonly label: string;
}

export function AlertLink({ of, label }: AlertLinkProps) {
  if (!useScope('admin')) return null;
  const href = `/alerts/edit?${new URLSearchParams(of).toString()}`;
  return (
    <Link href={href} className={styles.link} aria-label={label} title={label}>
      <Icon name="bell" />
    </Link>
  );
}
