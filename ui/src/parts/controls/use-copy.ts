/** Copies a text and says that it did, or that the browser did not let it. */
import { useToast } from '../feedback/toasts.tsx';

/** @returns copies `text`; `what` is what it is called, such as `the message` */
export function useCopy(): (text: string, what: string) => Promise<void> {
  const toast = useToast();
  return async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      toast(`Copied ${what}`);
    } catch {
      toast(`This browser did not let ${what} be copied`);
    }
  };
}
