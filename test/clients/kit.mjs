// What the scripts share. The test hands in where the program is by environment variables.
import assert from 'node:assert/strict';

export { assert };
export const { BASE, KEY, SANDBOX, SUBMISSION, SUBMISSIONS, DNS } = process.env;

// until looks again and again, within a bound, for something that another process does.
export async function until(what, look) {
  for (let i = 0; i < 600; i++) {
    const found = await look();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what} did not come`);
}

// received waits for messages in the sandbox's mailbox of an address.
export function received(to, count = 1) {
  return until(`mail to ${to}`, async () => {
    const answer = await fetch(`${SANDBOX}/messages?to=${encodeURIComponent(to)}`);
    const { data } = await answer.json();
    return data.length >= count && data;
  });
}

export function hostAndPort(address) {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}
