/**
 * `claimer <directory> <agent> <count> ours|usual`: claims this many tasks after a line on stdin, and prints
 * their ids in one line.
 */
import { once } from "node:events";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { teamIn } from "../support/scratch.ts";
import { usualClaim } from "../support/usual-approach.ts";

const [, , directory = "", agent = "", count = "0", approach = "ours"] = process.argv;
const ref = teamIn(directory);
console.log("ready");
await once(process.stdin, "data");
const claimed: string[] = [];
for (let i = 0; i < Number(count); i += 1) {
  claimed.push(
    approach === "ours" ? (await claimTask(ref, agent, undefined)).id : await usualClaim(ref, agent),
  );
}
console.log(claimed.join(" "));
process.exit();
