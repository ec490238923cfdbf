/** What the compliance test needs of a protocol, and how HTTP protocols send and count. */
import type { ReceiverKind } from '../../src/model/account.ts';
import type { Service } from '../harness/service.ts';
import type { Incoming, Outgoing } from './grpc-call.ts';

export interface Wire {
  readonly name: string;
  /** Label value in metrics. */
  readonly protocol: string;
  readonly kind: ReceiverKind;
  readonly headers: Readonly<Record<string, string>>;
  readonly successStatus: number;
  /** Whether the URL names the receiver. */
  readonly hasReceiverInPath: boolean;
  /** Headers that this protocol must refuse. */
  readonly strangeHeaders: readonly Readonly<Record<string, string>>[];
  readonly malformed: Buffer;
  /** A body with `records` records, marked with `mark`. */
  encode(mark: string, records: number): Buffer;
  /** One valid and one invalid record; absent when requests are accepted as a whole. */
  encodePartlyBad?(mark: string): Buffer;
  readonly partlyBadStatus?: number;
  /** A body has one record, whatever is asked of `encode`. */
  readonly hasOneRecord?: true;
  /** Bodies may have any size: they are stored in steps. */
  readonly isStoredInSteps?: true;
  send(service: Service, outgoing: Outgoing): Promise<Incoming>;
  /** Number of readable records of a mark. */
  count(service: Service, mark: string): Promise<number>;
}

type Sending = Pick<Wire, 'send' | 'hasReceiverInPath'>;

export const overHttp = (path: string): Sending => ({
  hasReceiverInPath: true,
  send: (service, outgoing) =>
    overPath(`/v1/receivers/${outgoing.receiverId}/${path}`).send(service, outgoing),
});

/** The token names the receiver. */
export const overPath = (path: string): Sending => ({
  hasReceiverInPath: false,
  async send(service, { authorization, headers, body }) {
    const url = `${service.quickstart.ingestUrl}${path}`;
    const list = Object.entries(headers).flat();
    for (const value of authorization) list.push('Authorization', value);
    const answer = await service.http.send(url, { method: 'POST', headers: list, body });
    const retryAfter = answer.headers['retry-after'];
    return {
      status: answer.status,
      text: answer.text,
      retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
    };
  },
});

export async function countLogs(service: Service, mark: string): Promise<number> {
  return (await service.list({ search: mark, limit: 1000 })).logs.length;
}

export async function countSeries(service: Service, mark: string): Promise<number> {
  const answer = await service.read('/prometheus/api/v1/series', { 'match[]': `{mark="${mark}"}` });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json<{ data: unknown[] }>().data.length;
}

export const range = (records: number) => Array.from({ length: records }, (_, i) => i);
