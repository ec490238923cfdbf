/** What can be done with a log and with one of its values. */
import type { Log } from '../../api/models.ts';
import type { Filter } from '../query.ts';
import type { FieldName } from './log-fields.ts';

export interface LogActions {
  /** Absent where a list has no filters of its own to change. */
  readonly filter?: (filter: Filter) => void;
  readonly addColumn?: (name: FieldName) => void;
  readonly showContext?: (log: Log) => void;
  /** Address that leads to this log. */
  readonly linkTo: (log: Log) => string;
}
