import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readTeam } from "../../../src/team/config/config.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers, patchMember } from "../../../src/team/members/members.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { changeTask, listTasks } from "../../../src/team/tasks/tasks.ts";
import { retireMember } from "../../support/team/retire-member.ts";
import { testHome } from "../../support/team/test-team.ts";

const PEERS = fileURLToPath(new URL("../../fixtures/peers/", import.meta.url));

/** Returns a team as Claude Code of this version left it. */
function teamOf(version: string) {
  const ref = teamRef(testHome(), "my-team");
  mkdirSync(ref.paths.dir, { recursive: true });
  cpSync(join(PEERS, version, "team"), ref.paths.dir, { recursive: true });
  cpSync(join(PEERS, version, "tasks"), ref.paths.tasks, { recursive: true });
  return ref;
}
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));

describe.each(["2.1.34", "2.1.150", "2.1.329"])("team files of Claude Code %s", (version) => {
  test("can be read", async () => {
    const ref = teamOf(version);
    const { members } = readTeam(ref);
    expect(members[0]).toMatchObject({ name: "team-lead" });
    expect(listTasks(ref).map(({ id }) => id)).toEqual(["1", "2"]);
    for (const { name } of members) {
      if (existsSync(ref.paths.inbox(name)))
        await expect(unreadMessages(ref, name)).resolves.toBeInstanceOf(Array);
    }
  });

  test("keep all their fields when teams changes them", async () => {
    const ref = teamOf(version);
    const before = {
      config: json(ref.paths.config),
      lead: json(ref.paths.inbox("team-lead")),
      task: json(ref.paths.task("1")),
    };
    await addMembers(ref, [{ name: "ours", cwd: "/" }]);
    await retireMember(ref, "ours", "killed", 5);
    await sendMessage(ref, { from: "team-lead", to: "team-lead", text: "hi" });
    await changeTask(ref, "1", (task) => ({ ...task, description: "new" }));
    expect(json(ref.paths.config)).toMatchObject(before.config);
    expect(json(ref.paths.inbox("team-lead")).slice(0, -1)).toEqual(before.lead);
    expect(json(ref.paths.task("1"))).toEqual({ ...before.task, description: "new" });
  });

  test("keep the order of their keys when teams changes them, with new keys at the end", async () => {
    const ref = teamOf(version);
    // Without a required field, the schema reads the file instead of the faster guard.
    const config = json(ref.paths.config);
    const [lead, { cwd: _, ...first }, ...others] = config.members;
    const changed = {
      name: "my-team",
      zFuture: { z: 1, a: 2 },
      ...config,
      members: [lead, first, ...others],
    };
    writeFileSync(ref.paths.config, JSON.stringify(changed));
    await patchMember(ref, "team-lead", { mode: "plan" });
    const after = json(ref.paths.config);
    const keys = Object.keys(after);
    expect(keys.filter((key) => key in changed)).toEqual(Object.keys(changed));
    expect(keys.slice(0, 2)).toEqual(["name", "zFuture"]);
    expect(Object.keys(after.zFuture)).toEqual(["z", "a"]);
    expect(Object.keys(after.leadProcess ?? {})).toEqual(Object.keys(changed.leadProcess ?? {}));
    expect(Object.keys(after.members[0])).toEqual([...Object.keys(lead), "mode"]);
    expect(Object.keys(after.members[1])).toEqual([...Object.keys(first), "cwd"]);
  });

  test("contain protocol messages that teams understands", async () => {
    const ref = teamOf(version);
    const messages = json(ref.paths.inbox("team-lead")) as { read?: boolean }[];
    const entries = await unreadMessages(ref, "team-lead");
    expect(entries).toHaveLength(messages.filter(({ read }) => !read).length);
    for (const { protocol } of entries) expect(protocol).toBeDefined();
    await markAsRead(
      ref,
      "team-lead",
      entries.map(({ key }) => key),
    );
    expect(json(ref.paths.inbox("team-lead"))).toHaveLength(messages.length);
  });

  test("contain tasks that follow the claim rules of teams", async () => {
    const ref = teamOf(version);
    const claims = await Promise.allSettled([claimTask(ref, "beta", "2"), claimTask(ref, "beta", undefined)]);
    expect(claims[0]).toMatchObject({ reason: { code: "TASK_BLOCKED" } });
  });
});
