/**
 * `receiver <directory> <agent>`: a running agent that only receives. For each message it prints the text and
 * its arrival in nanoseconds of the monotonic clock, once the message is marked as read.
 */

import { systemClock } from "../../../src/os/clock.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { openWorkerBell } from "../../../src/runtime/worker-bell.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { createStatusKeeper } from "../../../src/worker/status-record.ts";
import { teamIn } from "../support/scratch.ts";

const [, , directory = "", agent = ""] = process.argv;
const ref = teamIn(directory);
const bell = await openWorkerBell(ref, agent, { problem: console.error });
const facts = {
  sessionId: agent,
  transcript: "",
  process: ownIdentity(),
  bell: ref.paths.agent(agent).bell,
};
createStatusKeeper(ref, agent, facts, undefined, systemClock);
console.log("ready");
for (;;) {
  const entries = await unreadMessages(ref, agent);
  const at = process.hrtime.bigint();
  await markAsRead(
    ref,
    agent,
    entries.map(({ key }) => key),
  );
  for (const { message } of entries) console.log(`${message.text} ${at}`);
  await bell.wait();
}
