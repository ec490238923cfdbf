/** The page of streams. */
import { Page } from '../parts/page.tsx';

export function StreamsPage() {
  return <Page title="StreamsPage">To come.</Page>;
}
