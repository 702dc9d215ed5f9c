import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { transcriptPath } from "../../../src/protocol/paths.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

const DAMAGE = /1 line of the conversation cannot be read, and is left out: .*session-dev\.jsonl/;

function writeDamaged(ref: TeamRef): void {
  const path = transcriptPath(ref.home.root, "session-dev");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{"type":"session","version":1,"sessionId":"session-dev"}\n{"type":"user","mess\n');
}

test("a conversation with a damaged line › is continued; the pane shows the damage, and the lead gets one message", async () => {
  const ref = await testTeam(["dev"]);
  writeDamaged(ref);
  const messagesToLead = async (): Promise<string[]> =>
    (await unreadMessages(ref, LEAD_NAME)).flatMap(({ message, protocol }) =>
      protocol === undefined ? [message.text] : [],
    );
  for (const start of [1, 2]) {
    const dev = await workerOfTest(ref, { turns: [{ say: "Done.", repeat: true }] });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: `begin ${start}` });
    await eventually("the end of the turn", () => dev.worker.lastText === "Done.");
    expect(dev.shown).toContainEqual(expect.stringMatching(DAMAGE));
    await eventually("the message to the lead", async () => (await messagesToLead()).length > 0);
    await dev.stop();
  }
  expect(await messagesToLead()).toEqual([expect.stringMatching(DAMAGE)]);
});
