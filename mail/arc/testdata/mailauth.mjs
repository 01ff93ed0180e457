// Lets mailauth, written by others, verify or seal messages. A request is one line of JSON on standard input, an answer one line
// on standard output. The first argument is the package.json beside which mailauth is installed.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { authenticate, sealMessage } = createRequire(process.argv[2])('mailauth');

const missing = (name) => Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' });

async function answer({ message, records, seal }) {
  const input = Buffer.from(message, 'base64');
  if (seal) {
    return { fields: (await sealMessage(input, seal)).toString('base64') };
  }
  const resolver = async (name, type) => {
    if (type !== 'TXT' || !records[name]) throw missing(name);
    return [[records[name]]];
  };
  const { arc, dkim } = await authenticate(input, { ip: '192.0.2.1', helo: 'x.test', sender: 'a@x.test', disableBimi: true, resolver });
  return { arc: arc.status.result, comment: arc.status.comment, dkim: dkim.results.map((r) => r.status.result) };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line)).catch((err) => ({ error: String(err.stack) }))));
}
