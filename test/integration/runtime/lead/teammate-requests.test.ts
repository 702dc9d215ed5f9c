import { expect, onTestFinished, test } from "vitest";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import type { Lead } from "../../../../src/runtime/lead/lead.ts";
import { answerTeammateRequest } from "../../../../src/runtime/lead/teammate-requests.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf, startWorker } from "../../../support/worker/start-worker.ts";

test.each([
  ["in its pane", undefined],
  ["in its view (Shift+Down, Enter)", {}],
])("a teammate's request › names its command and says: %s", async (where, screen) => {
  const ref = await testTeam(["dev"]);
  const touch = { tools: [{ name: "Bash", input: { command: "touch made" } }] };
  const dev = await startWorker(ref, { mode: "default", turns: [touch] });
  onTestFinished(() =>
    dev.stop().then(
      () => undefined,
      () => undefined,
    ),
  );
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  const entry = await eventually("the request", async () =>
    (await unreadMessages(ref, LEAD_NAME)).find(({ protocol }) => protocol?.type === "permission_request"),
  );
  const texts: string[] = [];
  const settings = () => ({ permissions: { ...NO_RULES, additionalDirectories: [] } });
  const view = { waiting: (text: string) => texts.push(text) };
  const lead = { ctx: contextOf(ref), view, settings, screen } as unknown as Lead;
  const worker = { planApproval: { mode: "default" }, permissionRequests: { sessionRules: [] } };
  await answerTeammateRequest(lead, worker as never, entry);
  expect(texts).toEqual([
    expect.stringMatching(/^dev asks: .*touch made.*; answer with teams approve dev, or /),
  ]);
  expect(texts[0]).toMatch(new RegExp(`${where.replace(/[()+]/g, "\\$&")}$`));
});
