/** Copies a text and reports success or failure in a toast. */
import { useToast } from '../feedback/toasts.tsx';

/** @returns copies `text`; `what` names it, such as `the message` */
export function useCopy(): (text: string, what: string) => Promise<void> {
  const toast = useToast();
  return async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      toast(`Copied ${what}`);
    } catch {
      toast(`This browser did not allow copying ${what}`);
    }
  };
}
