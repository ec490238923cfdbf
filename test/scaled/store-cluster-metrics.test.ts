/** The store on a cluster: its tests of metrics pass there. */
import { testOnCluster } from './test-on-cluster.ts';

testOnCluster([
  'metric-reads',
  'metric-duplicates',
  'metric-round-trips',
  'metric-limits',
  'metric-housekeeping',
  'downsampling',
]);
