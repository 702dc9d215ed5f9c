import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

it("control message that cannot be marked as read › takes effect and is shown once, and does not stop the agent", async () => {
  const unhandled: unknown[] = [];
  const listener = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", listener);
  onTestFinished(() => void process.off("unhandledRejection", listener));
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, { turns: [{ say: "heard", repeat: true }] });
  const inbox = ref.paths.inbox("dev");
  const restore = failingRenames(
    (from, to) => to === inbox && readFileSync(from, "utf8").includes('"read": true'),
  );
  const text = formatProtocol({ type: "mode_set_request", mode: "plan", from: LEAD_NAME }, new Date(0));
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
  await eventually("the failure", () => dev.shown.find((line) => line.startsWith("error: ")));
  expect(dev.shown).toContain("note: permission mode is now plan");
  expect(await unreadMessages(ref, "dev")).toHaveLength(1);
  restore();
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "go on" });
  await eventually("the next turn", () => dev.inputs.some((input) => input.includes("go on")));
  expect(dev.shown.filter((line) => line === "note: permission mode is now plan")).toHaveLength(1);
  expect(unhandled).toEqual([]);
});
