// The calls of Resend's own SDK for broadcasts, as its documentation writes them; the mail is read in the mailbox it arrived in.
import { Resend } from 'resend';
import { assert, BASE, KEY, received, until } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const ok = ({ data, error }) => (assert.equal(error, null), data);

const readers = ok(await resend.segments.create({ name: 'Readers' }));
ok(await resend.contacts.create({ email: 'reader@example.net', firstName: 'Rea', segments: [{ id: readers.id }] }));

const made = ok(await resend.broadcasts.create({
  segmentId: readers.id, from: 'Acme <news@acme.test>', subject: 'Hello {{{FIRST_NAME|there}}}', previewText: 'News', replyTo: 'support@acme.test',
  html: '<p>Hi {{{FIRST_NAME|there}}}, <a href="{{{RESEND_UNSUBSCRIBE_URL}}}">leave</a></p>', text: 'Hi', name: 'November',
}));
ok(await resend.broadcasts.update(made.id, { name: 'November news', subject: 'Hello again {{{FIRST_NAME|there}}}' }));
const draft = ok(await resend.broadcasts.get(made.id));
assert.deepEqual([draft.status, draft.name, draft.segment_id, draft.reply_to], ['draft', 'November news', readers.id, ['support@acme.test']]);
assert.equal(ok(await resend.broadcasts.send(made.id)).id, made.id);
await until('the end of a broadcast', async () => ok(await resend.broadcasts.get(made.id)).status === 'sent');

const [mail] = await received('reader@example.net');
assert.equal(mail.subject, 'Hello again Rea');

const later = ok(await resend.broadcasts.create({ segmentId: readers.id, from: 'news@acme.test', subject: 'Later', text: 'Later' }));
assert.equal(ok(await resend.broadcasts.send(later.id, { scheduledAt: 'in 10 minutes' })).id, later.id);
assert.equal(ok(await resend.broadcasts.get(later.id)).status, 'scheduled');
if (resend.broadcasts.cancel) ok(await resend.broadcasts.cancel(later.id));
if (resend.broadcasts.recipients) assert.equal(ok(await resend.broadcasts.recipients(made.id, { type: 'delivered' })).data[0].email, 'reader@example.net');
if (resend.broadcasts.clickedLinks) assert.deepEqual(ok(await resend.broadcasts.clickedLinks(made.id)).data, []);

assert.deepEqual(ok(await resend.broadcasts.list()).data.map((b) => b.id), [later.id, made.id]);
const spare = ok(await resend.broadcasts.create({ segmentId: readers.id, from: 'news@acme.test', subject: 'Spare', text: 'Spare' }));
assert.equal(ok(await resend.broadcasts.remove(spare.id)).deleted, true);

const atOnce = ok(await resend.broadcasts.create({ segmentId: readers.id, from: 'news@acme.test', subject: 'At once', html: '<p>Now</p>', send: true }));
await until('the end of a broadcast', async () => ok(await resend.broadcasts.get(atOnce.id)).status === 'sent');
const refused = await resend.broadcasts.send(atOnce.id);
assert.equal(refused.data, null);
assert.equal(refused.error.statusCode, 409);
