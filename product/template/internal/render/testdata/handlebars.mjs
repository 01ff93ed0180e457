// Renders templates with Handlebars itself: one JSON {source, values} a line in, one JSON {text} or {error} a line out.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const Handlebars = createRequire(process.argv[2])("handlebars");

for await (const line of createInterface({ input: process.stdin })) {
  const { source, values } = JSON.parse(line);
  let answer;
  try {
    answer = { text: Handlebars.compile(source)(values) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
