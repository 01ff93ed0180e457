// npm install resend; RESEND_BASE_URL is the address of your installation with /v1
import { Resend } from "resend";

const resend = new Resend(process.env.POSTRIDER_API_KEY);
const { data, error } = await resend.emails.send({
  from: "Acme <hello@acme.test>", to: "ada@example.net", subject: "Welcome", html: "<p>Hello Ada</p>",
});
if (error) throw new Error(error.message);
console.log(data.id);
