/** `<data>/quickstart.json`, as far as tests use it. */
export interface Quickstart {
  readonly ingestUrl: string;
  readonly streamUrl: string;
  readonly opsUrl: string;
  readonly caFile: string;
  readonly accountId: string;
  readonly streamId: string;
  readonly accessToken: string;
  /** Ports of listeners without HTTP, by setting. */
  readonly sockets?: Readonly<Record<string, number>>;
  readonly receivers: {
    readonly http_json: {
      readonly receiverId: string;
      readonly url: string;
      readonly token: string;
    };
    readonly otlp: {
      readonly receiverId: string;
      readonly url: string;
      readonly metricsUrl: string;
      /** Host and port. */
      readonly grpc: string;
      readonly token: string;
    };
    readonly prometheus: {
      readonly receiverId: string;
      readonly pushUrl: string;
      readonly writeUrl: string;
      readonly writeV2Url: string;
      readonly token: string;
    };
  };
}
