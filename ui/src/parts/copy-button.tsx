/** Copies a text and says that it did. */
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useToast } from './toasts.tsx';

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as `the token`. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  const toast = useToast();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast(`Copied ${what}`);
    } catch {
      toast(`This browser did not let ${what} be copied`);
    }
  };
  return (
    <Button tone="bare" label={`Copy ${what}`} onPress={() => void copy()}>
      <Icon name="copy" />
    </Button>
  );
}
