/** The page of metrics. */
import { Page } from '../parts/page.tsx';

export function MetricsPage() {
  return <Page title="MetricsPage">To come.</Page>;
}
