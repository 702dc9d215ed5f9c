import { appendFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDocument } from "../../../../src/cli/sidebar/sidebar-documents.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { createTask, deleteTask } from "../../../../src/team/tasks/tasks.ts";
import { updateTask } from "../../../../src/team/tasks/update-task.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("openDocument › shows a task as it is now, and keeps it readable once it is deleted", async () => {
  const ref = await testTeam(["dev"]);
  const { id } = await createTask(ref, { subject: "Mend it", description: "In **src**." });
  const document = await openDocument(contextOf(ref), { kind: "task", id }, { plain: true });
  expect(document.renews).toBe("with-data");
  const content = { subject: "Mend it", description: "In **src**." };
  const shown = (facts: readonly string[]): object => ({ kind: "task", task: { ...content, facts } });
  expect(await document.read(80)).toEqual(shown(["state:      pending", "owner:      none"]));
  await updateTask(ref, LEAD_NAME, id, { owner: "dev", status: "in_progress" });
  expect(await document.read(80)).toEqual(shown(["state:      in progress", "owner:      dev"]));
  await deleteTask(ref, id);
  expect(await document.read(80)).toEqual(shown(["state:      deleted"]));
  const other = await openDocument(contextOf(ref), { kind: "task", id: "99" }, { plain: true });
  expect(() => other.read(80)).toThrow(/99/);
});

test("openDocument › lists all teams when the files of one cannot be read", async () => {
  const ref = await testTeam(["dev"]);
  const leadSessionId = "5f0e2a6e-0000-4000-8000-000000000001";
  const broken = await createTeamFiles(ref.home, { name: "other", leadSessionId, leadCwd: "/", now: 1_000 });
  symlinkSync(broken.paths.requests, broken.paths.requests);
  const document = await openDocument(contextOf(ref), { kind: "teams" }, { plain: true });
  const facts = { waiting: 0, displayName: expect.any(String) };
  expect(await document.read(80)).toEqual({
    kind: "teams",
    teams: [
      { ...facts, team: "crew", members: 2, isShown: true },
      { ...facts, team: "other", members: 1, isShown: false, problem: expect.stringContaining("ELOOP") },
    ],
  });
});

test("openDocument › returns the same messages of a member until the journal has changed", async () => {
  const ref = await testTeam(["dev"]);
  const document = await openDocument(contextOf(ref), { kind: "messages", member: "dev" }, { plain: true });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "Begin." });
  const first = await document.read(80);
  expect(first).toMatchObject({ messages: [{ text: "Begin." }] });
  expect(await document.read(80)).toBe(first);
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "Continue." });
  expect(await document.read(80)).toMatchObject({ messages: [{ text: "Begin." }, { text: "Continue." }] });
});

test("openDocument › follows a conversation, and leaves out the oldest of too many rows", async () => {
  const ref = await testTeam(["dev"]);
  const transcript = join(temporaryDirectory(), "conversation.jsonl");
  writeStatus(ref, "dev", statusOf({ transcript }));
  const say = (text: string): void => {
    const message = { role: "assistant", content: [{ type: "text", text }] };
    appendFileSync(transcript, `${JSON.stringify({ type: "assistant", message })}\n`);
  };
  const rowsFrom = (first: number): string =>
    Array.from({ length: 1_000 }, (_, i) => `row ${first + i}`).join("\n");
  say("first");
  const document = await openDocument(contextOf(ref), { kind: "log", member: "dev" }, { plain: true });
  const shown = async (): Promise<readonly string[]> => {
    const content = await document.read(80);
    return content.kind === "log" ? content.rows : [];
  };
  expect(await shown()).toEqual(["first"]);
  say("second");
  expect(await shown()).toEqual(["first", "", "second"]);
  for (let from = 0; from < 21_000; from += 1_000) say(rowsFrom(from));
  const rows = await shown();
  expect([rows.length, rows[0], rows.at(-1)]).toEqual([
    10_001,
    "… older entries: teams logs dev --all",
    "row 20999",
  ]);
  say("last");
  expect((await shown()).slice(-3)).toEqual(["row 20999", "", "last"]);
  document.close();
});
