/** The HTTP route in OpenAPI. */
import { describeSignal } from '../describe.ts';

export const description = describeSignal({
  operationId: 'ingestOtlpMetrics',
  summary: 'Send metrics by OTLP over HTTP',
  name: 'Metrics',
  resources: 'resourceMetrics',
  rejected: 'rejectedDataPoints',
  details: 'Data points become samples with the names that Prometheus gives them. ',
  example: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'auth' } }] },
      scopeMetrics: [
        {
          metrics: [
            {
              name: 'sign.ins',
              sum: {
                aggregationTemporality: 2,
                isMonotonic: true,
                dataPoints: [
                  {
                    startTimeUnixNano: '1544712600000000000',
                    timeUnixNano: '1544712660000000000',
                    asInt: '42',
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
});
