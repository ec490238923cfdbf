/** The same request in each encoding gives the same rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openOtlpMetrics } from '../../../../test/protocols/otlp-metric-rows.ts';
import {
  allTemporalities,
  metricsRequests,
} from '../../../../test/protocols/random-otlp-metrics.ts';

test('JSON, protobuf and gRPC give the same rows, rejections and warnings', async () => {
  await fc.assert(
    fc.asyncProperty(metricsRequests(allTemporalities), async (request) => {
      const [json, protobuf, grpc] = await Promise.all(
        (['json', 'protobuf', 'grpc'] as const).map((encoding) =>
          openOtlpMetrics().decode(request, encoding),
        ),
      );
      assert.deepEqual(json, protobuf);
      assert.deepEqual(grpc, protobuf);
    }),
    { numRuns: 200 },
  );
});
