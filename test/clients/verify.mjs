// Prints what mailauth, a verifier written by others, finds in a message: the DKIM results and the DMARC verdict.
import { readFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';
import { DNS } from './kit.mjs';

const names = new Resolver();
names.setServers([DNS]);
const { dkim, spf, dmarc } = await authenticate(await readFile(process.argv[2]), {
  ip: '127.0.0.1', helo: 'mx1.mail.postrider.test', sender: process.argv[3], disableArc: true, disableBimi: true,
  resolver: (name, type) => names.resolve(name, type),
});
console.log(JSON.stringify({
  dkim: dkim.results.map((r) => ({ result: r.status.result, domain: r.signingDomain, algorithm: r.algo, aligned: r.status.aligned })),
  spf: spf?.status?.result, dmarc: dmarc?.status?.result,
}));
