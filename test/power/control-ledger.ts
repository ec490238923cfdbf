/**
 * Acknowledged changes of the control API: created tokens must work after a power cut, revoked ones
 * must not.
 */
import type { Service } from '../harness/service.ts';

export interface ControlLedger {
  /** Creates a token, revokes an earlier one, and records what was acknowledged. */
  change(): Promise<void>;
  /** @returns one sentence per token in the wrong state */
  check(): Promise<string[]>;
}

interface IssuedToken {
  readonly tokenId: string;
  readonly token: string;
}

export function createControlLedger(service: Service): ControlLedger {
  const valid: IssuedToken[] = [];
  const revoked: IssuedToken[] = [];

  async function statusOf({ token }: IssuedToken): Promise<number> {
    const { streamUrl, accountId } = service.quickstart;
    const answer = await service.http.send(`${streamUrl}/api/v1/logs?limit=1`, {
      headers: { authorization: `Bearer ${token}`, 'x-active-account': accountId },
    });
    return answer.status;
  }

  return {
    async change() {
      const body = { type: 'access', name: 'power', scopes: ['logs:read'] };
      const created = await service.admin('POST', '/tokens', body);
      if (created.status === 201) valid.push(created.json<IssuedToken>());
      const [old] = valid;
      if (old === undefined || valid.length < 2) return;
      const answer = await service.admin('POST', `/tokens/${old.tokenId}/revoke`);
      if (answer.status < 300) revoked.push(...valid.splice(0, 1));
    },
    async check() {
      const faults: string[] = [];
      for (const each of valid) {
        const status = await statusOf(each);
        if (status !== 200) faults.push(`an acknowledged token gets ${status} after a cut`);
      }
      for (const each of revoked) {
        const status = await statusOf(each);
        if (status !== 401) faults.push(`a revoked token gets ${status} after a cut`);
      }
      return faults;
    },
  };
}
