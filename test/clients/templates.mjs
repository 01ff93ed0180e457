// The calls of Resend's own SDK for templates, as its documentation writes them; then an email made from one.
import { Resend } from 'resend';
import { assert, BASE, KEY, received } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const ok = ({ data, error }) => (assert.equal(error, null), data);

const made = ok(await resend.templates.create({
  name: 'Order', alias: 'order', from: 'Acme <hello@acme.test>', subject: 'Order {{{ORDER}}}', html: '<p>Hi {{{NAME}}}, thanks for {{{ORDER}}}.</p>',
  variables: [{ key: 'NAME', type: 'string', fallbackValue: 'friend' }, { key: 'ORDER', type: 'string' }],
}).publish());
const read = ok(await resend.templates.get('order'));
assert.equal(read.id, made.id);
assert.equal(read.name, 'Order');
assert.equal(read.status, 'published');
assert.deepEqual(read.variables.map((v) => v.key).sort(), ['NAME', 'ORDER']);

ok(await resend.templates.update(made.id, { subject: 'Your order {{{ORDER}}}' }));
ok(await resend.templates.publish(made.id));
const copy = ok(await resend.templates.duplicate(made.id));
const list = ok(await resend.templates.list({ limit: 10 }));
assert.deepEqual(new Set(list.data.map((t) => t.id)), new Set([made.id, copy.id]));
assert.equal(ok(await resend.templates.remove(copy.id)).deleted, true);

ok(await resend.emails.send({ to: 'template@example.net', template: { id: 'order', variables: { ORDER: 'B-7' } } }));
const [mail] = await received('template@example.net');
assert.equal(mail.subject, 'Your order B-7');
assert.match(mail.raw, /Hi friend, thanks for B-7/);

const { error } = await resend.emails.send({ to: 'template@example.net', template: { id: 'order', variables: {} } });
assert.ok(error, 'a variable without a fallback is missing');
