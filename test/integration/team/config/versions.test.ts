import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../../../src/schema/migrate.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { changeTask, createTask, listTasks } from "../../../../src/team/tasks/tasks.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const raw = (ref: TeamRef): Record<string, unknown> => JSON.parse(readFileSync(ref.paths.config, "utf8"));

/** Rewrites the config as another version or another program would. */
function rewrite(ref: TeamRef, change: (config: Record<string, unknown>) => object): string {
  const text = JSON.stringify(change(raw(ref)));
  writeFileSync(ref.paths.config, text);
  return text;
}

test("config version › 1.0.0 is read without a change, and upgraded by the next write", async () => {
  const ref = await testTeam(["dev"]);
  const text = rewrite(ref, ({ joinedCount: _count, former: _former, ...config }) => ({
    ...config,
    schemaVersion: "1.0.0",
    createdAt: "2025-01-02T03:04:05.000Z",
    theirs: 1,
  }));
  expect(readTeam(ref)).toMatchObject({ schemaVersion: SCHEMA_VERSION, joinedCount: 1, former: [] });
  expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
  await addMembers(ref, [{ name: "rev", cwd: "/" }]);
  expect(raw(ref)).toMatchObject({
    schemaVersion: SCHEMA_VERSION,
    createdAt: Date.parse("2025-01-02T03:04:05.000Z"),
    joinedCount: 2,
    former: [],
    theirs: 1,
    members: [{}, { color: "blue" }, { name: "rev", color: "green" }],
  });
});

test("config version › is never added to another program's team (S76)", async () => {
  const ref = await testTeam(["dev"]);
  rewrite(ref, ({ schemaVersion: _ours, ...config }) => config);
  await updateTeam(ref, (config) => ({ ...config, description: "changed" }));
  await addMembers(ref, [{ name: "rev", cwd: "/" }]);
  expect(raw(ref)).not.toHaveProperty("schemaVersion");
});

test("config version › a newer minor version keeps its version and its new fields", async () => {
  const ref = await testTeam(["dev"]);
  rewrite(ref, (config) => ({ ...config, schemaVersion: "1.7.0", added: { by: "the future" } }));
  await addMembers(ref, [{ name: "rev", cwd: "/" }]);
  await sendMessage(ref, { from: "dev", to: "rev", text: "hi" });
  expect(raw(ref)).toMatchObject({ schemaVersion: "1.7.0", added: { by: "the future" } });
});

test("config version › a newer major version can be read, but never changed", async () => {
  const ref = await testTeam(["dev"]);
  await createTask(ref, { subject: "before" });
  const text = rewrite(ref, (config) => ({ ...config, schemaVersion: "2.0.0" }));
  const changes = [
    () => updateTeam(ref, (config) => ({ ...config, description: "x" })),
    () => addMembers(ref, [{ name: "rev", cwd: "/" }]),
    () => sendMessage(ref, { from: "dev", to: "team-lead", text: "hi" }),
    () => createTask(ref, { subject: "after" }),
    () => changeTask(ref, "1", (task) => ({ ...task, subject: "after" })),
    () => removeTeamFiles(ref),
  ];
  for (const change of changes) {
    await expect(change()).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("newer version of teams (its format is 2.0.0"),
      hint: expect.stringContaining("Install the newest version"),
    });
  }
  expect(readTeam(ref).members).toHaveLength(2);
  expect(listTasks(ref)).toMatchObject([{ subject: "before" }]);
  expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
});
