// Written as a customer would with the generated types: it need only compile.
import type { components, operations, paths } from "./types.js";

type Send = operations["createEmail"]["requestBody"] extends { content: { "application/json": infer Body } } | undefined ? Body : never;
type Sent = paths["/v1/emails"]["post"]["responses"][202]["content"]["application/json"];
type Email = paths["/v1/emails/{id}"]["get"]["responses"][200]["content"]["application/json"];
type Failure = components["schemas"]["ApiWireError"];

export const message: Send = { from: "Acme <hello@acme.test>", to: ["ann@example.net"], subject: "Hello", text: "Hi" };

export function idOf(sent: Sent): string {
  return sent.id;
}

export function tell(email: Email): string {
  const recipients: string[] = email.to;
  return `${email.subject ?? ""} to ${recipients.join(", ")}: ${email.status}`;
}

export function explain(failure: Failure): string {
  return `${failure.error.code}: ${failure.error.message} (${failure.error.request_id})`;
}

// @ts-expect-error a status is a text
export const wrong: number = ({} as Email).status;
