// Calls every method of Resend's SDK and prints what came of each, as JSON. A method without a call here is printed as unknown.
import { Resend } from 'resend';
import { BASE, KEY } from './kit.mjs';

const resend = new Resend(KEY, { baseUrl: BASE });
const from = 'Acme <hello@acme.test>';
const nobody = '0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00';

// Things that calls are about, each made for one call.
let count = 0;
const next = (word) => `${word}${++count}`;
const made = async (answer) => {
  const { data, error } = await answer;
  if (error) throw new Error(`prepare: ${error.message}`);
  return data.id;
};
const raw = async (method, path, body) => {
  const answer = await fetch(BASE + path, { method, headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  const data = await answer.json();
  if (!answer.ok) throw new Error(`prepare ${path}: ${JSON.stringify(data)}`);
  return data;
};
const email = (more) => ({ from, to: `${next('sdk')}@example.net`, subject: 'SDK', text: 'Hi', ...more });
const later = () => made(resend.emails.send(email({ scheduledAt: 'in 1 hour' })));
const filed = async () => {
  const emailId = await made(resend.emails.send(email({ attachments: [{ filename: 'a.txt', content: Buffer.from('a') }] })));
  return { emailId, id: (await resend.emails.attachments.list({ emailId })).data.data[0].id };
};
const segment = () => made(resend.segments.create({ name: next('Segment') }));
const contact = () => made(resend.contacts.create({ email: `${next('contact')}@example.net` }));
const topic = () => made(resend.topics.create({ name: next('Topic'), defaultSubscription: 'opt_in' }));
const property = () => made(resend.contactProperties.create({ key: next('property'), type: 'string', fallbackValue: 'x' }));
const template = () => made(resend.templates.create({ name: next('Template'), alias: next('alias'), from, subject: 'Hi', html: '<p>Hi</p>' }));
const broadcast = async () => made(resend.broadcasts.create({ segmentId: await segment(), from, subject: 'News', text: 'News' }));
const domain = () => made(resend.domains.create({ name: `${next('sdk')}.test` }));
const webhook = () => made(resend.webhooks.create({ endpoint: 'https://hooks.example.com/sdk', events: ['email.delivered'] }));
const event = () => made(resend.events.create({ name: next('sdk.event'), schema: { plan: 'string' } }));
const suppression = async () => {
  const address = `${next('gone')}@example.net`;
  await made(resend.suppressions.add({ email: address }));
  return address;
};
const steps = (name) => ({
  name: next('Automation'),
  steps: [{ key: 'start', type: 'trigger', config: { eventName: name } }, { key: 'wait', type: 'delay', config: { duration: '1 hour' } }],
  connections: [{ from: 'start', to: 'wait' }],
});
const automation = async () => made(resend.automations.create(steps(next('sdk.started'))));
const received = async () => {
  const message = await raw('POST', '/emails/receiving', { from: 'ann@example.net', to: 'support@acme.test', subject: 'Received', text: 'Hi', attachments: [{ filename: 'a.txt', content: 'YQ==' }] });
  return message.id;
};
const receivedFile = async () => {
  const emailId = await received();
  return { emailId, id: (await resend.emails.receiving.attachments.list({ emailId })).data.data[0].id };
};
const run = async () => {
  const name = next('sdk.run');
  const automationId = await made(resend.automations.create(steps(name)));
  await raw('POST', `/automations/${automationId}/publish`);
  await resend.automations.update(automationId, { status: 'enabled' });
  const { id } = await raw('POST', `/automations/${automationId}/run`, { email: `${next('runner')}@example.net` });
  return { automationId, runId: id };
};
const imported = () => made(resend.contacts.imports.create({ file: new File(['email\nimport@example.net\n'], 'a.csv', { type: 'text/csv' }) }));

const calls = {
  'emails.send': () => resend.emails.send(email()),
  'emails.create': () => resend.emails.create(email()),
  'emails.get': async () => resend.emails.get(await later()),
  'emails.list': () => resend.emails.list({ limit: 5 }),
  'emails.update': async () => resend.emails.update({ id: await later(), scheduledAt: 'in 2 hours' }),
  'emails.cancel': async () => resend.emails.cancel(await later()),
  'emails.share': async () => resend.emails.share(await later()),
  'emails.metrics': () => resend.emails.metrics(),
  'emails.attachments.get': async () => resend.emails.attachments.get(await filed()),
  'emails.attachments.list': async () => resend.emails.attachments.list(await filed()),
  'emails.receiving.get': async () => resend.emails.receiving.get(await received()),
  'emails.receiving.list': () => resend.emails.receiving.list(),
  'emails.receiving.forward': async () => resend.emails.receiving.forward({ emailId: await received(), to: 'forward@example.net', from }),
  'emails.receiving.attachments.get': async () => resend.emails.receiving.attachments.get(await receivedFile()),
  'emails.receiving.attachments.list': async () => resend.emails.receiving.attachments.list(await receivedFile()),
  'batch.send': () => resend.batch.send([email(), email()]),
  'batch.create': () => resend.batch.create([email()]),
  'domains.create': () => resend.domains.create({ name: `${next('sdk')}.test` }),
  'domains.list': () => resend.domains.list(),
  'domains.get': async () => resend.domains.get(await domain()),
  'domains.update': async () => resend.domains.update({ id: await domain(), openTracking: true }),
  'domains.remove': async () => resend.domains.remove(await domain()),
  'domains.verify': async () => resend.domains.verify(await domain()),
  'domains.claims.create': () => resend.domains.claims.create({ name: 'claim.test' }),
  'domains.claims.get': async () => resend.domains.claims.get(await domain()),
  'domains.claims.verify': async () => resend.domains.claims.verify(await domain()),
  'templates.create': () => resend.templates.create({ name: next('Template'), html: '<p>Hi</p>' }),
  'templates.list': () => resend.templates.list(),
  'templates.get': async () => resend.templates.get(await template()),
  'templates.update': async () => resend.templates.update(await template(), { subject: 'New' }),
  'templates.publish': async () => resend.templates.publish(await template()),
  'templates.duplicate': async () => resend.templates.duplicate(await template()),
  'templates.remove': async () => resend.templates.remove(await template()),
  'contacts.create': () => resend.contacts.create({ email: `${next('contact')}@example.net` }),
  'contacts.list': () => resend.contacts.list(),
  'contacts.get': async () => resend.contacts.get(await contact()),
  'contacts.update': async () => resend.contacts.update({ id: await contact(), firstName: 'Ann' }),
  'contacts.remove': async () => resend.contacts.remove(await contact()),
  'contacts.topics.list': async () => resend.contacts.topics.list({ id: await contact() }),
  'contacts.topics.update': async () => resend.contacts.topics.update({ id: await contact(), topics: [{ id: await topic(), subscription: 'opt_out' }] }),
  'contacts.segments.list': async () => resend.contacts.segments.list({ contactId: await contact() }),
  'contacts.segments.add': async () => resend.contacts.segments.add({ contactId: await contact(), segmentId: await segment() }),
  'contacts.segments.remove': async () => {
    const ids = { contactId: await contact(), segmentId: await segment() };
    await resend.contacts.segments.add(ids);
    return resend.contacts.segments.remove(ids);
  },
  'contacts.imports.create': () => resend.contacts.imports.create({ file: new File(['email\nnew@example.net\n'], 'a.csv', { type: 'text/csv' }) }),
  'contacts.imports.list': () => resend.contacts.imports.list(),
  'contacts.imports.get': async () => resend.contacts.imports.get(await imported()),
  'contactProperties.create': () => resend.contactProperties.create({ key: next('property'), type: 'string', fallbackValue: 'x' }),
  'contactProperties.list': () => resend.contactProperties.list(),
  'contactProperties.get': async () => resend.contactProperties.get(await property()),
  'contactProperties.update': async () => resend.contactProperties.update({ id: await property(), fallbackValue: 'y' }),
  'contactProperties.remove': async () => resend.contactProperties.remove(await property()),
  'topics.create': () => resend.topics.create({ name: next('Topic'), defaultSubscription: 'opt_in' }),
  'topics.list': () => resend.topics.list(),
  'topics.get': async () => resend.topics.get(await topic()),
  'topics.update': async () => resend.topics.update({ id: await topic(), name: next('Topic') }),
  'topics.remove': async () => resend.topics.remove(await topic()),
  'broadcasts.create': async () => resend.broadcasts.create({ segmentId: await segment(), from, subject: 'News', text: 'News' }),
  'broadcasts.list': () => resend.broadcasts.list(),
  'broadcasts.get': async () => resend.broadcasts.get(await broadcast()),
  'broadcasts.update': async () => resend.broadcasts.update(await broadcast(), { subject: 'Newer' }),
  'broadcasts.send': async () => resend.broadcasts.send(await broadcast(), { scheduledAt: 'in 1 hour' }),
  'broadcasts.cancel': async () => {
    const id = await broadcast();
    await resend.broadcasts.send(id, { scheduledAt: 'in 1 hour' });
    return resend.broadcasts.cancel(id);
  },
  'broadcasts.duplicate': async () => resend.broadcasts.duplicate(await broadcast()),
  'broadcasts.recipients': async () => resend.broadcasts.recipients(await broadcast(), { type: 'delivered' }),
  'broadcasts.clickedLinks': async () => resend.broadcasts.clickedLinks(await broadcast()),
  'broadcasts.remove': async () => resend.broadcasts.remove(await broadcast()),
  'automations.create': () => resend.automations.create(steps(next('sdk.created'))),
  'automations.list': () => resend.automations.list(),
  'automations.get': async () => resend.automations.get(await automation()),
  'automations.update': async () => resend.automations.update(await automation(), { name: 'Changed' }),
  'automations.duplicate': async () => resend.automations.duplicate(await automation()),
  'automations.stop': async () => resend.automations.stop(await automation()),
  'automations.remove': async () => resend.automations.remove(await automation()),
  'automations.runs.list': async () => resend.automations.runs.list({ automationId: await automation() }),
  'automations.runs.get': async () => resend.automations.runs.get(await run()),
  'events.create': () => resend.events.create({ name: next('sdk.event'), schema: { plan: 'string' } }),
  'events.list': () => resend.events.list(),
  'events.get': async () => resend.events.get(await event()),
  'events.update': async () => resend.events.update(await event(), { schema: { plan: 'string', seats: 'number' } }),
  'events.remove': async () => resend.events.remove(await event()),
  'events.send': () => resend.events.send({ event: 'user.created', email: `${next('eventful')}@example.net`, payload: { plan: 'pro' } }),
  'webhooks.create': () => resend.webhooks.create({ endpoint: 'https://hooks.example.com/new', events: ['email.bounced'] }),
  'webhooks.list': () => resend.webhooks.list(),
  'webhooks.get': async () => resend.webhooks.get(await webhook()),
  'webhooks.update': async () => resend.webhooks.update(await webhook(), { events: ['email.sent'] }),
  'webhooks.remove': async () => resend.webhooks.remove(await webhook()),
  'webhooks.rotateSigningSecret': async () => resend.webhooks.rotateSigningSecret(await webhook()),
  'webhooks.verify': async () => {
    const { Webhook } = await import('standardwebhooks');
    const secret = (await raw('POST', '/webhooks', { endpoint: 'https://hooks.example.com/v', events: ['email.sent'] })).signing_secret;
    const at = new Date();
    const signature = new Webhook(secret).sign('msg_1', at, '{"type":"email.sent"}');
    const headers = { id: 'msg_1', timestamp: `${Math.floor(at / 1000)}`, signature };
    return { data: resend.webhooks.verify({ payload: '{"type":"email.sent"}', headers, webhookSecret: secret }), error: null };
  },
  'webhooks.events.list': async () => resend.webhooks.events.list({ webhookId: await webhook() }),
  'webhooks.events.get': async () => resend.webhooks.events.get({ webhookId: await webhook(), eventId: nobody }),
  'webhooks.events.replay': async () => resend.webhooks.events.replay({ webhookId: await webhook(), eventId: nobody }),
  'webhooks.events.attempts.list': async () => resend.webhooks.events.attempts.list({ webhookId: await webhook(), eventId: nobody }),
  'suppressions.add': () => resend.suppressions.add({ email: `${next('gone')}@example.net` }),
  'suppressions.list': () => resend.suppressions.list(),
  'suppressions.get': async () => resend.suppressions.get(await suppression()),
  'suppressions.remove': async () => resend.suppressions.remove(await suppression()),
  'suppressions.batch.add': () => resend.suppressions.batch.add({ emails: [`${next('gone')}@example.net`] }),
  'suppressions.batch.remove': async () => resend.suppressions.batch.remove({ emails: [await suppression()] }),
  'logs.list': () => resend.logs.list(),
  'logs.get': async () => resend.logs.get((await resend.logs.list()).data.data[0].id),
  'usage.get': () => resend.usage.get(),
  'apiKeys.create': () => resend.apiKeys.create({ name: 'x' }),
  'apiKeys.list': () => resend.apiKeys.list(),
  'apiKeys.update': () => resend.apiKeys.update(nobody, { name: 'x' }),
  'apiKeys.remove': () => resend.apiKeys.remove(nobody),
  'oauthGrants.list': () => resend.oauthGrants.list(),
  'oauthGrants.revoke': () => resend.oauthGrants.revoke(nobody),
};
for (const name of ['segments', 'audiences']) {
  Object.assign(calls, {
    [`${name}.create`]: () => resend[name].create({ name: next('Segment') }),
    [`${name}.list`]: () => resend[name].list(),
    [`${name}.get`]: async () => resend[name].get(await segment()),
    [`${name}.update`]: async () => resend[name].update(await segment(), { name: next('Segment') }),
    [`${name}.remove`]: async () => resend[name].remove(await segment()),
  });
}

// What the SDK has, found by looking at it. Its own helpers are no calls.
const helpers = new Set(['buildCreateFormData', 'buildColumnMap', 'appendField', 'performCreate', 'downloadRaw', 'forwardPassthrough', 'forwardWrapped']);
const methods = [];
function walk(service, path) {
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(service))) {
    if (name !== 'constructor' && !helpers.has(name)) methods.push([`${path}.${name}`, service, name]);
  }
  for (const [name, inner] of Object.entries(service)) {
    if (inner && typeof inner === 'object' && inner !== resend && inner.constructor !== Object) walk(inner, `${path}.${name}`);
  }
}
for (const [name, service] of Object.entries(resend)) {
  if (service && typeof service === 'object' && !(service instanceof Headers) && service.constructor !== Object) walk(service, name);
}

// Inboxes are a product of its own at Resend: their methods are called with ids of nobody.
const ids = { id: nobody, inboxId: nobody, threadId: nobody, emailId: nobody, draftId: nobody, labelId: nobody, name: 'x', labels: ['x'], query: 'x' };
const inboxes = (path, service, name) => (/^inboxes\.(get|update|remove)$/.test(path) ? service[name](nobody, ids) : service[name](ids));
const outcome = async ([path, service, name]) => {
  const call = calls[path] ?? (path.startsWith('inboxes') && (() => inboxes(path, service, name)));
  if (!call) return { method: path, unknown: true };
  try {
    const { data, error } = await call();
    return { method: path, error: error ? `${error.name}: ${error.message}` : data == null ? 'no data' : '' };
  } catch (e) {
    return { method: path, error: `${e}` };
  }
};
const outcomes = [];
for (const method of methods) outcomes.push(await outcome(method));
console.log(JSON.stringify(outcomes.sort((a, b) => (a.method < b.method ? -1 : 1))));
