/** The page of receiver. */
import { Page } from '../parts/page.tsx';

export function ReceiverPage() {
  return <Page title="ReceiverPage">To come.</Page>;
}
