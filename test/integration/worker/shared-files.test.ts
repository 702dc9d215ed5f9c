import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { patchMember } from "../../../src/team/members/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

type Turns = readonly PlaybookTurn[];

const read = (path: string): PlaybookTurn => ({ tools: [{ name: "Read", input: { file_path: path } }] });
const write = (path: string, content: string): PlaybookTurn => ({
  tools: [{ name: "Write", input: { file_path: path, content } }],
});

/** Starts `ada`, with a running task that touches `src/**`, and `dev` in one directory. Both may edit files there unasked. */
async function inOneDirectory(turns: { readonly ada: Turns; readonly dev: Turns }) {
  const ref = await testTeam(["ada", "dev"]);
  const cwd = join(dirname(ref.home.root), "project");
  await addTask(ref, LEAD_NAME, { subject: "Rewrite the lexer", touches: ["src/**"] });
  await claimTask(ref, "ada", "1");
  for (const name of ["ada", "dev"] as const) {
    await patchMember(ref, name, { cwd });
    await workerOfTest(ref, { name, cwd, mode: "acceptEdits", turns: turns[name] });
  }
  const begin = (to: string): Promise<unknown> => sendMessage(ref, { from: LEAD_NAME, to, text: "begin" });
  return { ref, begin, exists: (file: string) => existsSync(join(cwd, file)) };
}

/** Waits for the message about a shared edit. @returns its text */
async function warningTo(ref: TeamRef, name: string): Promise<string> {
  const warning = await eventually(`the warning to ${name}`, async () =>
    (await history(ref, name, { all: true })).find(({ text }) => text.includes("both edit")),
  );
  return warning.text;
}

it("a file of another member's running task › is edited after a request that names the member", async () => {
  const dev = [write("src/lexer.ts", "of dev\n"), { say: "done" }];
  const { ref, begin, exists } = await inOneDirectory({ ada: [], dev });
  await begin("dev");
  const request = await eventually("the request", () => listApprovals(ref)[0]);
  expect(request).toMatchObject({
    from: "dev",
    reason: expect.stringContaining("src/lexer.ts is reserved (src/**) by task #1 of ada"),
  });
  expect(exists("src/lexer.ts")).toBe(false);
  await answerApproval(contextOf(ref), request.id, { approve: true });
  await eventually("the edit", () => exists("src/lexer.ts"));
});

it("a file that no task has reserved › is edited unasked, and both members that edit it are notified", async () => {
  const ada = [write("notes.md", "of ada\n"), { say: "done" }];
  const dev = [read("notes.md"), write("notes.md", "of dev\n"), { say: "done" }];
  const { ref, begin, exists } = await inOneDirectory({ ada, dev });
  await begin("ada");
  await eventually("the first edit", () => exists("notes.md"));
  await begin("dev");
  expect(await warningTo(ref, "ada")).toMatch(/^You and dev both edit .*\/notes\.md, in the same directory/);
  expect(await warningTo(ref, "dev")).toMatch(/^You and ada both edit .*\/notes\.md, in the same directory/);
  expect(listApprovals(ref)).toEqual([]);
});
