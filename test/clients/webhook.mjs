// Receives webhooks and checks each with three libraries that others wrote. Prints its address, then a line for each event.
import { createServer } from 'node:http';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { Resend } from 'resend';

let secret = process.env.SECRET;
createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts).toString();
    if (request.url === '/secret') {
      secret = body;
      response.end();
      return;
    }
    const { headers } = request;
    const verdicts = {
      standardwebhooks: () => new Standard(secret).verify(body, headers),
      svix: () => new Svix(secret).verify(body, headers),
      resend: () => new Resend('re_x').webhooks.verify({ payload: body, webhookSecret: secret,
        headers: { id: headers['svix-id'], timestamp: headers['svix-timestamp'], signature: headers['svix-signature'] } }),
    };
    const failed = [];
    for (const [name, verify] of Object.entries(verdicts)) {
      try {
        verify();
      } catch (error) {
        failed.push(`${name}: ${error.message}`);
      }
    }
    console.log(JSON.stringify({ type: JSON.parse(body).type, id: headers['webhook-id'], failed }));
    response.end();
  });
}).listen(0, '127.0.0.1', function () {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${this.address().port}` }));
});
