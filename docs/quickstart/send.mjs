const response = await fetch(`${process.env.POSTRIDER_URL}/v1/emails`, {
  method: "POST",
  headers: { Authorization: `Bearer ${process.env.POSTRIDER_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ from: "Acme <hello@acme.test>", to: "ada@example.net", subject: "Welcome", html: "<p>Hello Ada</p>" }),
});
const answer = await response.json();
if (!response.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
console.log(answer.id);
