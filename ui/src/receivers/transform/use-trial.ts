/** A draft of a transform, checked and tried out by the service whenever typing pauses. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.ts';
import type { LogPage, Receiver, TransformPreview } from '../../api/models.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useApp, useScope } from '../../app/context.ts';
import type { TextFault } from '../../parts/editor/text-fault.ts';
import { usePaused } from '../../parts/editor/use-paused.ts';
import { type Fields, toSamples } from './samples.ts';
import { isFault, readSteps, toStepFaults } from './transform-text.ts';

const sampledLogs = 20;

interface Outcome {
  readonly text: string;
  readonly faults: readonly TextFault[];
  readonly samples: readonly Fields[];
  readonly results: TransformPreview['results'];
}

const noFaults: readonly TextFault[] = [];

export type Trial = ReturnType<typeof useTrial>;

export function useTrial({ receiverId, streamId }: Receiver, text: string) {
  const { api } = useApp();
  const logs = useNewestLogs(streamId);
  const paused = usePaused(text);
  const run = async (): Promise<Outcome> => {
    const steps = readSteps(paused);
    const refused = { text: paused, samples: [], results: [] };
    if (isFault(steps)) return { ...refused, faults: [steps] };
    const samples = toSamples(logs.data ?? []);
    // Checks the steps also without logs.
    const sent = samples.length === 0 ? [{ message: '' }] : samples;
    const path = '/api/v1/admin/receivers/{receiverId}/transform/preview';
    const body = { transform: [...steps], samples: [...sent] };
    try {
      const { results } = await dataOf(api.POST(path, { params: { path: { receiverId } }, body }));
      return { text: paused, faults: noFaults, samples, results };
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 400)) throw error;
      return { ...refused, faults: toStepFaults(paused, error) };
    }
  };
  const { data, error, isLoading } = useQuery({
    queryKey: ['transform trial', receiverId, paused, logs.dataUpdatedAt],
    enabled: !logs.isLoading,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    queryFn: run,
  });
  return {
    logs,
    /** Of this text; none until it is checked. */
    faults: data?.text === text ? data.faults : noFaults,
    /** Of the text that was checked last; undefined = it has faults. */
    outcome: data?.faults.length === 0 ? data : undefined,
    isLoading: isLoading || logs.isLoading,
    /** Errors that are not those of the text; null = none. */
    error,
  };
}

function useNewestLogs(streamId: string) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['newest logs', streamId],
    enabled: useScope('logs:read'),
    // Samples must not change while someone reads them.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const query = { streamId: [streamId], limit: sampledLogs };
      const call = api.GET('/api/v1/logs', { params: { query }, signal });
      return ((await dataOf(call)) as LogPage).logs;
    },
  });
}
