// The calls of Resend's own SDK for emails and batches, as its documentation writes them.
import { Resend } from 'resend';
import { assert, BASE, KEY, received } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const ok = ({ data, error }) => (assert.equal(error, null), data);
const from = 'Acme <hello@acme.test>';

const sent = ok(await resend.emails.send({
  from, to: ['resend1@example.net'], cc: 'copy@example.net', bcc: ['blind@example.net'], replyTo: 'support@acme.test',
  subject: 'Welcome', html: '<p>Hi <b>Ann</b></p>', tags: [{ name: 'category', value: 'welcome' }], headers: { 'X-Entity-Ref-ID': '123' },
  attachments: [
    { filename: 'invoice.txt', content: Buffer.from('invoice') },
    { filename: 'logo.png', content: Buffer.from('89504e470d0a1a0a', 'hex'), contentId: 'logo' },
  ],
}));
const [message] = await received('resend1@example.net');
assert.equal(message.authentication.dkim, 'pass');
assert.match(message.raw, /X-Entity-Ref-ID: 123/);
assert.doesNotMatch(message.raw, /blind@/);

const email = ok(await resend.emails.get(sent.id));
assert.equal(email.subject, 'Welcome');
assert.deepEqual(email.to, ['resend1@example.net']);
assert.deepEqual(email.reply_to, ['support@acme.test']);
assert.ok(['queued', 'delivered', 'sent'].includes(email.last_event), email.last_event);

const files = ok(await resend.emails.attachments.list({ emailId: sent.id }));
assert.deepEqual(files.data.map((f) => f.filename), ['invoice.txt', 'logo.png']);
const file = ok(await resend.emails.attachments.get({ emailId: sent.id, id: files.data[0].id }));
assert.equal(await (await fetch(file.download_url)).text(), 'invoice');

const key = { idempotencyKey: 'welcome:u_42:1' };
const once = ok(await resend.emails.send({ from, to: 'resend2@example.net', subject: 'Once', text: 'Once' }, key));
const twice = ok(await resend.emails.send({ from, to: 'resend2@example.net', subject: 'Once', text: 'Once' }, key));
assert.equal(once.id, twice.id);

const later = ok(await resend.emails.send({ from, to: 'resend3@example.net', subject: 'Later', text: 'Later', scheduledAt: 'in 10 minutes' }));
ok(await resend.emails.update({ id: later.id, scheduledAt: new Date(Date.now() + 3600e3).toISOString() }));
assert.equal(ok(await resend.emails.get(later.id)).last_event, 'scheduled');
ok(await resend.emails.cancel(later.id));
assert.equal(ok(await resend.emails.get(later.id)).last_event, 'canceled');

const batch = ok(await resend.batch.send([1, 2, 3].map((n) => ({ from, to: `batch${n}@example.net`, subject: `Batch ${n}`, text: `${n}` }))));
assert.equal(batch.data.length, 3);
const mixed = ok(await resend.batch.send(
  [{ from, to: 'batch4@example.net', subject: 'Good', text: 'x' }, { from, to: 'nobody', subject: 'Bad', text: 'x' }],
  { batchValidation: 'permissive' }));
assert.equal(mixed.data.length, 1);
assert.equal(mixed.errors[0].index, 1);
const strict = await resend.batch.send([{ from, to: 'nobody', subject: 'Bad', text: 'x' }]);
assert.equal(strict.error.name, 'validation_error');

const page = ok(await resend.emails.list({ limit: 3 }));
assert.equal(page.data.length, 3);
assert.equal(page.has_more, true);
const next = ok(await resend.emails.list({ limit: 3, after: page.data[2].id }));
assert.ok(!page.data.some((e) => next.data.some((o) => o.id === e.id)));

assert.equal((await resend.emails.get('0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00')).error.name, 'not_found');
assert.equal((await new Resend('re_wrong', { baseUrl: BASE }).emails.get(sent.id)).error.name, 'invalid_api_key');
assert.equal((await resend.emails.send({ from: 'a@elsewhere.test', to: 'x@example.net', subject: 'x', text: 'x' })).error.name, 'invalid_from_address');
