// The calls of Resend's own SDK for contacts, segments, topics, properties and imports, as its documentation writes them; then a
// confirmation link, followed from the mailbox it arrived in.
import { Resend } from 'resend';
import { assert, BASE, KEY, received, until } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const ok = ({ data, error }) => (assert.equal(error, null), data);

const plan = ok(await resend.contactProperties.create({ key: 'plan', type: 'string', fallbackValue: 'free' }));
ok(await resend.contactProperties.create({ key: 'seats', type: 'number', fallbackValue: 1 }));
ok(await resend.contactProperties.update({ id: plan.id, fallbackValue: 'none' }));
assert.equal(ok(await resend.contactProperties.get(plan.id)).fallbackValue, 'none');
assert.deepEqual(ok(await resend.contactProperties.list()).data.map((p) => p.key), ['seats', 'plan']);

const news = ok(await resend.topics.create({ name: 'News', defaultSubscription: 'opt_in', description: 'Monthly' }));
const offers = ok(await resend.topics.create({ name: 'Offers', defaultSubscription: 'opt_out' }));
ok(await resend.topics.update({ id: news.id, name: 'Product news' }));
assert.equal(ok(await resend.topics.get(news.id)).name, 'Product news');
assert.equal(ok(await resend.topics.list()).data.length, 2);

const friends = ok(await resend.segments.create({ name: 'Friends' }));
assert.equal(ok(await resend.segments.get(friends.id)).name, 'Friends');
assert.equal(ok(await resend.segments.list({ limit: 10 })).data.length, 1);

const ann = ok(await resend.contacts.create({
  email: 'Ann@example.net', firstName: 'Ann', lastName: 'Lee', unsubscribed: false, properties: { plan: 'pro', seats: 5 },
  segments: [{ id: friends.id }], topics: [{ id: offers.id, subscription: 'opt_in' }],
}));
const read = ok(await resend.contacts.get({ email: 'ann@example.net' }));
assert.equal(read.id, ann.id);
assert.equal(read.email, 'ann@example.net');
assert.equal(read.first_name, 'Ann');
assert.deepEqual(read.properties, { plan: 'pro', seats: 5 });
ok(await resend.contacts.update({ id: ann.id, lastName: 'Smith', properties: { seats: null } }));
assert.equal(ok(await resend.contacts.get(ann.id)).last_name, 'Smith');
assert.deepEqual(ok(await resend.contacts.get(ann.id)).properties, { plan: 'pro' });

ok(await resend.contacts.topics.update({ email: 'ann@example.net', topics: [{ id: news.id, subscription: 'opt_out' }] }));
const said = ok(await resend.contacts.topics.list({ id: ann.id })).data;
assert.deepEqual(Object.fromEntries(said.map((t) => [t.id, t.subscription])), { [news.id]: 'opt_out', [offers.id]: 'opt_in' });

const bob = ok(await resend.contacts.create({ email: 'bob@example.net' }));
ok(await resend.contacts.segments.add({ contactId: bob.id, segmentId: friends.id }));
assert.deepEqual(ok(await resend.contacts.segments.list({ email: 'bob@example.net' })).data.map((s) => s.id), [friends.id]);
assert.deepEqual(ok(await resend.contacts.list({ segmentId: friends.id })).data.map((c) => c.email), ['bob@example.net', 'ann@example.net']);
ok(await resend.contacts.segments.remove({ email: 'bob@example.net', segmentId: friends.id }));
assert.deepEqual(ok(await resend.contacts.list({ segmentId: friends.id })).data.map((c) => c.email), ['ann@example.net']);
const page = ok(await resend.contacts.list({ limit: 1 }));
assert.deepEqual([page.data[0].email, page.has_more], ['bob@example.net', true]);
assert.equal(ok(await resend.contacts.list({ limit: 1, after: page.data[0].id })).data[0].email, 'ann@example.net');

const old = ok(await resend.contacts.create({ audienceId: friends.id, email: 'old@example.net' }));
assert.equal(ok(await resend.contacts.get({ audienceId: friends.id, email: 'old@example.net' })).id, old.id);
ok(await resend.contacts.update({ audienceId: friends.id, id: old.id, firstName: 'Old' }));
const removed = ok(await resend.contacts.remove({ audienceId: friends.id, email: 'old@example.net' }));
assert.deepEqual([removed.contact, removed.deleted], [old.id, true]);

const file = new Blob(['Mail;Vorname;Tarif;Sitze\ncarl@example.net;Carl;pro;7\nnobody;Nobody;;\nbob@example.net;Bob;;\n'], { type: 'text/csv' });
const begun = ok(await resend.contacts.imports.create({
  file, onConflict: 'upsert', segments: [{ id: friends.id }], topics: [{ id: news.id, subscription: 'opt_in' }],
  columnMap: { email: 'Mail', firstName: 'Vorname', properties: { plan: { column: 'Tarif', type: 'string' }, seats: { column: 'Sitze', type: 'number' } } },
}));
const done = await until('the import', async () => {
  const im = ok(await resend.contacts.imports.get(begun.id));
  return im.status === 'completed' && im;
});
assert.deepEqual(done.counts, { total: 3, created: 1, updated: 1, skipped: 0, failed: 1 });
assert.match(await (await fetch(done.errors_url)).text(), /2,nobody,Invalid email address\./);
assert.equal(ok(await resend.contacts.imports.list({ status: 'completed' })).data.length, 1);
assert.deepEqual(ok(await resend.contacts.get('carl@example.net')).properties, { plan: 'pro', seats: 7 });

// Double opt-in: a scanner that follows the link changes nothing; the button subscribes one contact.
async function call(method, path, body) {
  const answer = await fetch(BASE + path, { method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' } });
  const read = await answer.json();
  assert.ok(answer.ok, `${method} ${path}: ${JSON.stringify(read)}`);
  return read;
}
const list = await call('POST', '/audience/lists', { name: 'Newsletter', double_opt_in: true, confirmation: { from: 'Acme <hello@acme.test>' } });
for (const email of ['dora@example.net', 'emil@example.net']) {
  await call('POST', '/audience/contacts', { email, list_id: list.id });
  await call('POST', `/audience/contacts/${email}/send-confirmation`, { list_id: list.id });
}
const [letter] = await received('dora@example.net');
const [link] = letter.raw.replace(/=\r?\n/g, '').replace(/=3D/g, '=').match(/https?:\/\/[^\s"<>]+\/audience\/confirm\/[^\s"<>]+/);
const here = BASE + new URL(link).pathname.replace(/^\/v1/, '');
const counts = async () => (({ subscribed_count, pending_count }) => [subscribed_count, pending_count])(await call('GET', `/audience/lists/${list.id}`));
const shown = await fetch(here, { headers: { Accept: 'text/html' } });
assert.match(await shown.text(), /<form method="post">/);
assert.equal((await fetch(here, { method: 'HEAD' })).status, 200);
assert.deepEqual(await counts(), [0, 2]);
for (let i = 0; i < 2; i++) {
  const confirmed = await fetch(here, { method: 'POST', body: new URLSearchParams(), headers: { Accept: 'text/html' } });
  assert.match(await confirmed.text(), /You are subscribed/);
  assert.deepEqual(await counts(), [1, 1]);
}
assert.equal((await call('GET', '/contacts/dora@example.net')).lists[0].status, 'subscribed');
assert.equal((await call('GET', '/contacts/emil@example.net')).lists[0].status, 'pending');

ok(await resend.contacts.remove('ann@example.net'));
assert.equal((await resend.contacts.get('ann@example.net')).error.name, 'not_found');
ok(await resend.segments.remove(friends.id));
ok(await resend.topics.remove(offers.id));
ok(await resend.contactProperties.remove(plan.id));
