/** The page of receivers. */
import { Page } from '../parts/page.tsx';

export function ReceiversPage() {
  return <Page title="ReceiversPage">To come.</Page>;
}
