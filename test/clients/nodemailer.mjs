// Nodemailer hands in mail over both ports, among it an invitation that is signed with OpenPGP: it must verify at the other end.
import nodemailer from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import * as openpgp from 'openpgp';
import { assert, BASE, KEY, SUBMISSION, SUBMISSIONS, hostAndPort, received } from './kit.mjs';

const auth = { user: 'postrider', pass: KEY };
const tls = { rejectUnauthorized: false };
const starttls = nodemailer.createTransport({ ...hostAndPort(SUBMISSION), secure: false, requireTLS: true, auth, tls });
const implicit = nodemailer.createTransport({ ...hostAndPort(SUBMISSIONS), secure: true, pool: true, auth: { ...auth, user: 'resend' }, tls });
const from = 'Grüße von Acme <hello@acme.test>';

for (const [name, transport] of Object.entries({ starttls, implicit })) {
  const to = `${name}@example.net`;
  const info = await transport.sendMail({
    from, to, bcc: `${name}-blind@example.net`, subject: 'Größe ✓', text: 'Hallo\n.\n..\n', html: '<p>Hallo <img src="cid:logo"></p>',
    attachments: [{ filename: 'Übersicht – final.pdf', content: Buffer.from('%PDF-1.4') }, { filename: 'logo.png', content: Buffer.from('89504e47', 'hex'), cid: 'logo' }],
    headers: { 'X-Tag-Category': 'welcome' },
  });
  const id = info.response.match(/queued as (\S+)/)[1];
  const [message] = await received(to);
  await received(`${name}-blind@example.net`);
  assert.equal(message.authentication.dkim, 'pass');
  assert.doesNotMatch(message.raw, /blind|X-Tag/i);
  const email = await (await fetch(`${BASE}/emails/${id}`, { headers: { authorization: `Bearer ${KEY}` } })).json();
  assert.equal(email.subject, 'Größe ✓');
  assert.equal(email.source, 'smtp');
  assert.equal(email.html, '<p>Hallo <img src="cid:logo"></p>');
  assert.deepEqual(email.tags, [{ name: 'category', value: 'welcome' }]);
  assert.equal(email.attachment_count, 2);
}

const invitation = new MailComposer({
  text: 'Please come.',
  icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch  \r\nEND:VEVENT\r\nEND:VCALENDAR\r\n' },
}).compile();
const part = (await invitation.build()).toString('latin1').replace(/\r\n$/, '');
const { privateKey, publicKey } = await openpgp.generateKey({ userIDs: [{ email: 'hello@acme.test' }], format: 'object' });
const signature = await openpgp.sign({ message: await openpgp.createMessage({ binary: Buffer.from(part, 'latin1') }), signingKeys: privateKey, detached: true });
await implicit.sendMail({
  envelope: { from: 'hello@acme.test', to: ['invited@example.net'] },
  raw: [
    `From: ${'hello@acme.test'}`, 'To: invited@example.net', 'Subject: Lunch', 'MIME-Version: 1.0',
    'Content-Type: multipart/signed; micalg=pgp-sha512; protocol="application/pgp-signature"; boundary="sig"', '',
    '--sig', part, '--sig', 'Content-Type: application/pgp-signature; name="signature.asc"', '', signature.trim(), '--sig--', '',
  ].join('\r\n'),
});
const [signed] = await received('invited@example.net');
const [, arrived, rest] = signed.raw.split('--sig\r\n');
const verified = await openpgp.verify({
  message: await openpgp.createMessage({ binary: Buffer.from(arrived.replace(/\r\n$/, ''), 'latin1') }),
  signature: await openpgp.readSignature({ armoredSignature: rest.slice(rest.indexOf('-----BEGIN')).split('--sig--')[0] }),
  verificationKeys: publicKey,
});
assert.equal(await verified.signatures[0].verified, true);
assert.match(arrived, /METHOD:REQUEST/);

await assert.rejects(nodemailer.createTransport({ ...hostAndPort(SUBMISSION), requireTLS: true, tls, auth: { ...auth, pass: `${KEY}x` } }).verify(), { responseCode: 535 });
await assert.rejects(starttls.sendMail({ from: 'x@elsewhere.test', to: 'a@example.net', text: 'x' }), { responseCode: 550 });
await assert.rejects(starttls.sendMail({ from, to: 'a@example.net', text: 'x', attachments: [{ filename: 'x.exe', content: 'x' }] }), { responseCode: 554 });
implicit.close();
