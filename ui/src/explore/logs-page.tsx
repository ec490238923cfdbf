/** The page of logs. */
import { Page } from '../parts/page.tsx';

export function LogsPage() {
  return <Page title="LogsPage">To come.</Page>;
}
