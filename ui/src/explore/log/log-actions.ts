/** Actions on a log and on its values. */
import type { Log } from '../../api/models.ts';
import type { Filter } from '../terms.ts';
import type { FieldName } from './log-fields.ts';

export interface LogActions {
  /** Absent if the list has no filters. */
  readonly filter?: (filter: Filter) => void;
  /** Adds a condition in the query language, or its opposite. */
  readonly addCondition?: (condition: string, isExcluded: boolean) => void;
  readonly addColumn?: (name: FieldName) => void;
  readonly showContext?: (log: Log) => void;
  /** Link to this log. */
  readonly linkTo: (log: Log) => string;
}
