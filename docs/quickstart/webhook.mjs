// npm install standardwebhooks; the secret is shown once, when the webhook is made
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  try {
    const event = webhook.verify(body, request.headers);
    console.log(event.type);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
