/** The page of tokens. */
import { Page } from '../parts/page.tsx';

export function TokensPage() {
  return <Page title="TokensPage">To come.</Page>;
}
