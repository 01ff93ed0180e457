// Reads received mail with Resend's SDK as it is. The arguments are the id of a message with one attachment, and its subject.
import { Resend } from 'resend';
import { assert, BASE, KEY } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const ok = ({ data, error }) => (assert.equal(error, null), data);

const [id, subject] = process.argv.slice(2);
const message = ok(await resend.emails.receiving.get(id));
assert.equal(message.id, id);
assert.equal(message.subject, subject);
assert.equal(typeof message.headers.from, 'string');
assert.ok(message.raw.download_url.startsWith('http'));
const list = ok(await resend.emails.receiving.list({ limit: 10 }));
assert.ok(list.data.some((row) => row.id === id));
assert.equal(ok(await resend.emails.receiving.list({ after: id })).data.some((row) => row.id === id), false);
const files = ok(await resend.emails.receiving.attachments.list({ emailId: id }));
assert.equal(files.data.length, 1);
const file = ok(await resend.emails.receiving.attachments.get({ emailId: id, id: files.data[0].id }));
assert.equal(file.filename, files.data[0].filename);
assert.equal((await (await fetch(file.download_url)).text()).length, file.size);
