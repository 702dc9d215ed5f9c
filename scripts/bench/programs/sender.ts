/**
 * `sender <directory> <agent> <count> ours|usual`: sends this many messages to `bob` after a line on stdin,
 * then prints `done`.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { teamIn } from "../support/scratch.ts";
import { aMessage, usualSend } from "../support/usual-approach.ts";

const [, , directory = "", agent = "", count = "0", approach = "ours"] = process.argv;
const ref = teamIn(directory);
console.log("ready");
await once(process.stdin, "data");
for (let i = 0; i < Number(count); i += 1) {
  if (approach === "ours") await sendMessage(ref, { from: agent, to: "bob", text: aMessage("").text });
  else await usualSend(ref.paths.inbox("bob"), aMessage(randomUUID()));
}
console.log("done");
process.exit();
