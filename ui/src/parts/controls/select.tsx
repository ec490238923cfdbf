/** A choice of one text of several. */
import type { ComponentProps } from 'react';
import { toVisibleText } from '../text/visible-text.ts';

/** A value that is shown as it is, or with the words to show. */
export type Choice<Value extends string> = Value | readonly [value: Value, words: string];

export interface SelectProps<Value extends string>
  extends Pick<ComponentProps<'select'>, 'className' | 'onFocus' | 'onPointerEnter'> {
  /** Accessible name. */
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, choices, onChange, ...rest } = props;
  return (
    <select {...rest} aria-label={label} onChange={({ target }) => onChange(target.value as Value)}>
      {choices.map((choice) => {
        const [value, words] = typeof choice === 'string' ? [choice, choice] : choice;
        return (
          <option key={value} value={value}>
            {toVisibleText(words)}
          </option>
        );
      })}
    </select>
  );
}
