/** The conditions of the query: a click inverts one, the cross (or Delete) removes it. */
import { printQuery } from '../../../src/query/print.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { cutText, toVisibleText } from '../parts/text/visible-text.ts';
import styles from './filter-chips.module.css';
import { fieldTitle } from './log/log-fields.ts';
import { type Filter, inverted, printTerms, type Term } from './terms.ts';

export interface FilterChipsProps {
  readonly terms: readonly Term[];
  readonly streamNames: ReadonlyMap<string, string>;
  /** Called with the text of the new query. */
  readonly onChange: (text: string) => void;
}

const maxShown = 80;

/** Words are left to the query box. */
export function FilterChips({ terms, streamNames, onChange }: FilterChipsProps) {
  const words = terms.filter(({ query }) => isWord(query));
  if (words.length === terms.length) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {terms.map(
        (term, at) =>
          !isWord(term.query) && (
            <Chip
              key={printQuery(term.query)}
              term={term}
              streamNames={streamNames}
              onInvert={() => onChange(printTerms(terms.with(at, inverted(term))))}
              onRemove={() => onChange(printTerms(terms.toSpliced(at, 1)))}
            />
          ),
      )}
      <li>
        <Button tone="bare" onPress={() => onChange(printTerms(words))}>
          Clear all
        </Button>
      </li>
    </ul>
  );
}

function isWord(query: Term['query']): boolean {
  return (query.kind === 'not' ? query.item : query).kind === 'text';
}

interface ChipProps {
  readonly term: Term;
  readonly streamNames: ReadonlyMap<string, string>;
  readonly onInvert: () => void;
  readonly onRemove: () => void;
}

function Chip({ term, streamNames, onInvert, onRemove }: ChipProps) {
  const [filter] = term.filters;
  const isExcluded = filter?.isExcluded ?? term.query.kind === 'not';
  const whole = filter
    ? term.filters.map((one) => shownValue(one, streamNames)).join(' or ')
    : printQuery(term.query.kind === 'not' ? term.query.item : term.query);
  const cut = cutText(whole, maxShown);
  const value = cut === whole ? cut : `${cut}…`;
  const title = filter && cutText(fieldTitle(filter.field), maxShown);
  const relation = isExcluded ? 'is not' : 'is';
  const words = filter ? [title, relation, value] : [...(isExcluded ? ['not'] : []), value];
  return (
    <li className={isExcluded ? styles.excluded : styles.included}>
      <button
        type="button"
        className={styles.turn}
        title={`Press to ${isExcluded ? 'show only these' : 'hide these'}, Delete to remove`}
        onClick={onInvert}
        onKeyDown={({ key }) => {
          if (key === 'Delete' || key === 'Backspace') onRemove();
        }}
      >
        {title !== undefined && (
          <span className={styles.field}>
            <LogText text={title} />
          </span>
        )}{' '}
        {(filter ?? isExcluded) && (
          <span className={styles.relation}>{filter ? relation : 'not'}</span>
        )}{' '}
        <span className={styles.value}>
          <LogText text={value} />
        </span>
      </button>
      <button
        type="button"
        className={styles.remove}
        aria-label={`Remove: ${toVisibleText(words.join(' '))}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

function shownValue({ field, value }: Filter, streamNames: ReadonlyMap<string, string>): string {
  if (value === '') return 'empty';
  return field === 'streamId' ? (streamNames.get(value) ?? value) : value;
}
