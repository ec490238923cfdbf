/** Copies a text and confirms it. */
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useCopy } from './use-copy.ts';

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as `the token`. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  const copy = useCopy();
  return (
    <Button tone="bare" label={`Copy ${what}`} onPress={() => void copy(text, what)}>
      <Icon name="copy" />
    </Button>
  );
}
