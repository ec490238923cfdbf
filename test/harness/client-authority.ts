/** An authority of client certificates in a folder, made by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

export interface ClientAuthority {
  readonly caFile: string;
  issue(commonName: string): { readonly certFile: string; readonly keyFile: string };
}

export function createClientAuthority(folder: string): ClientAuthority {
  const openssl = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
  openssl(`req -x509 ${key} -days 2 -subj /CN=clients -keyout clients-key.pem -out clients.pem`);
  return {
    caFile: join(folder, 'clients.pem'),
    issue(commonName) {
      openssl(`req ${key} -subj /CN=${commonName} -keyout ${commonName}-key.pem -out request.pem`);
      const by = '-CA clients.pem -CAkey clients-key.pem -CAcreateserial';
      openssl(`x509 -req -in request.pem ${by} -days 2 -out ${commonName}.pem`);
      const file = (name: string) => join(folder, name);
      return { certFile: file(`${commonName}.pem`), keyFile: file(`${commonName}-key.pem`) };
    },
  };
}
