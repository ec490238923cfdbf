/**
 * The directory's tables as the queries see them. Plain columns only (text, integer), so that
 * SQLite and PostgreSQL hold the same: times are ISO 8601 UTC text, flags 0 or 1, lists JSON text.
 */
import type { ReceiverKind, TokenType } from '../model/account.ts';
import type { RefusalKind } from '../model/receiver-statistics.ts';

export interface AccountRow {
  account_id: string;
  name: string;
  events_per_second: number | null;
  created_at: string;
}

export interface StreamRow {
  stream_id: string;
  account_id: string;
  name: string;
  retention_days: number;
  data_deleted_until: string | null;
  created_at: string;
}

export interface ReceiverRow {
  receiver_id: string;
  account_id: string;
  stream_id: string;
  name: string;
  kind: ReceiverKind;
  active: number;
  /** JSON array of text. */
  allowed_cidrs: string;
  events_per_second: number | null;
  burst_events: number | null;
  max_body_bytes: number | null;
  created_at: string;
}

export interface TokenRow {
  token_id: string;
  type: TokenType;
  name: string;
  digest: string;
  /** 0 or 1. */
  all_accounts: number;
  receiver_id: string | null;
  /** JSON array of text. */
  scopes: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

export interface TokenAccountRow {
  token_id: string;
  account_id: string;
}

export interface ReceiverMinuteRow {
  receiver_id: string;
  /** Since 1970. */
  minute: number;
  requests: number;
  refused: number;
  accepted: number;
  rejected: number;
  bytes: number;
}

export interface ReceiverReasonRow {
  receiver_id: string;
  minute: number;
  kind: RefusalKind;
  reason: string;
  count: number;
}

export interface ReceiverSampleRow {
  receiver_id: string;
  at: string;
  seq: number;
  /** JSON object. */
  sample: string;
}

export interface ReceiverActivityRow {
  receiver_id: string;
  kind: 'seen' | 'accepted';
  at: string;
}

export interface ViewRow {
  view_id: string;
  account_id: string;
  name: string;
  query: string;
  created_at: string;
  updated_at: string;
}

export interface ExportTicketRow {
  digest: string;
  account_id: string;
  token_digest: string;
  query: string;
  /** By the clock of the database. */
  expires_at_ms: number;
}

export interface Tables {
  accounts: AccountRow;
  streams: StreamRow;
  receivers: ReceiverRow;
  tokens: TokenRow;
  token_accounts: TokenAccountRow;
  receiver_minutes: ReceiverMinuteRow;
  receiver_reasons: ReceiverReasonRow;
  receiver_samples: ReceiverSampleRow;
  receiver_activity: ReceiverActivityRow;
  views: ViewRow;
  export_tickets: ExportTicketRow;
  directory_migrations: { version: number; applied_at: string };
}
