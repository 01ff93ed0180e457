// Prints what mailauth, a verifier written by others, finds in a message that was passed on: the chain and the DKIM results.
import { readFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';
import { DNS } from './kit.mjs';

const names = new Resolver();
names.setServers([DNS]);
const { arc, dkim, spf } = await authenticate(await readFile(process.argv[2]), {
  ip: '127.0.0.1', helo: 'mx1.mail.postrider.test', sender: process.argv[3], disableBimi: true,
  resolver: (name, type) => names.resolve(name, type),
});
console.log(JSON.stringify({
  arc: arc?.status?.result, instance: arc?.i, spf: spf?.status?.result,
  dkim: dkim.results.map((r) => ({ result: r.status.result, domain: r.signingDomain })),
}));
