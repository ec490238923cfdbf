/** Where logs are sent: flags, else the environment, else the local quickstart.json. */
import { missing, quickstartFile, readAuthority, readQuickstart, toUrl } from '../connection.ts';

export interface Target {
  /** Of a receiver of kind http_json, exactly as it was issued. */
  readonly url: URL;
  readonly token: string;
  /** PEM of an authority to trust instead of the usual ones. */
  readonly ca: string | undefined;
}

export interface TargetFlags {
  readonly receiverUrl?: string;
  readonly ingestToken?: string;
  readonly caFile?: string;
  readonly data?: string;
}

/** @throws CommandError where the address or the token is nowhere to be found */
export function resolveTarget(
  flags: TargetFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Target {
  const file = quickstartFile(flags.data, environment);
  const { receivers, caFile: localAuthority } = readQuickstart(file);
  const ownUrl = flags.receiverUrl ?? environment['WEIR_RECEIVER_URL'];
  const ownToken = flags.ingestToken ?? environment['WEIR_INGEST_TOKEN'];
  // The token of the first run opens its own receiver alone.
  const localToken = ownUrl === undefined ? receivers?.http_json?.token : undefined;
  const url = ownUrl ?? receivers?.http_json?.url;
  const token = ownToken ?? localToken;
  const caFile = flags.caFile ?? environment['WEIR_CA_FILE'] ?? localAuthority;
  return {
    url: toUrl(url ?? missing('receiver URL', '--receiver-url, WEIR_RECEIVER_URL', file)),
    token: token ?? missing('ingest token', '--ingest-token, WEIR_INGEST_TOKEN', file),
    ca: caFile === undefined ? undefined : readAuthority(caFile),
  };
}
