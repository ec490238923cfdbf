/** A rule that fires at once for each series of `up == 0`. */
import type { AlertingRule } from '../../src/model/rules.ts';

export const downRule: AlertingRule = {
  kind: 'alerting',
  name: 'Down',
  query: { type: 'prometheus', expr: 'up == 0' },
  labels: {},
  annotations: {},
  forMs: 0,
  keepFiringForMs: 0,
};
