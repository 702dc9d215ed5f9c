import {
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addSecrets } from "../../../src/os/redact.ts";
import type { TeamConfig } from "../../../src/schema/config.ts";
import { type TeamEvent, teamEvent } from "../../../src/schema/event.ts";
import { readJsonLines } from "../../../src/store/jsonl.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { claimEnding, type NewEnding } from "../../../src/team/members/ending-claims.ts";
import { addMembers, moveToFormer, patchMember, removeMember } from "../../../src/team/members/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { addTask, updateTask } from "../../../src/team/tasks/update-task.ts";
import { onEventFailure, recordEvent, rotatedPath } from "../../../src/telemetry/event-log.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { testTeam } from "../../support/team/test-team.ts";

const logIn = (directory: string) => ({
  team: "crew",
  paths: { events: join(directory, "events.jsonl") },
});
const eventsOf = ({ paths }: ReturnType<typeof logIn> | TeamRef): TeamEvent[] =>
  readJsonLines(paths.events, teamEvent).lines;
const IDLE = { type: "idle", reason: "available" } as const;

describe("recordEvent", () => {
  it("writes a line with time, type and team to a file that only its owner can read", () => {
    const log = logIn(temporaryDirectory());
    recordEvent(log, { ...IDLE, agentId: "dev@crew" });
    recordEvent(log, IDLE);
    const [first, second] = readFileSync(log.paths.events, "utf8").trim().split("\n");
    const { ts, ...rest } = JSON.parse(first ?? "");
    expect(rest).toEqual({ type: "idle", team: "crew", agentId: "dev@crew", reason: "available" });
    expect(new Date(ts).toISOString()).toBe(ts);
    expect(JSON.parse(second ?? "")).toMatchObject({ reason: "available" });
    expect(statSync(log.paths.events).mode & 0o777).toBe(0o600);
  });

  it("redacts secrets of the environment in every field (S75)", () => {
    addSecrets({ EVENT_TOKEN: "tok-3f9a77c1d2" });
    const log = logIn(temporaryDirectory());
    recordEvent(log, { type: "permission", tool: "mcp__tok-3f9a77c1d2__find", allowed: true, asked: false });
    expect(eventsOf(log)).toMatchObject([{ tool: "mcp__[secret]__find" }]);
  });

  it("never fails, and reports a write error with the path of its log", () => {
    const log = logIn(temporaryDirectory());
    mkdirSync(log.paths.events);
    const failures: string[][] = [];
    onEventFailure((...words) => failures.push(words));
    recordEvent(log, IDLE);
    expect(failures).toEqual([[expect.stringContaining("EISDIR"), log.paths.events]]);
  });

  it("creates nothing for a deleted team", () => {
    const failures: string[] = [];
    onEventFailure((text) => failures.push(text));
    const directory = join(temporaryDirectory(), "gone");
    recordEvent(logIn(directory), IDLE);
    expect([existsSync(directory), failures]).toEqual([false, []]);
  });

  it("starts a new file when the log is full, and keeps the previous one", () => {
    const log = logIn(temporaryDirectory());
    writeFileSync(log.paths.events, `${"x".repeat(9 * 1024 * 1024)}\n`);
    recordEvent(log, IDLE);
    expect(existsSync(log.paths.events)).toBe(false);
    recordEvent(log, IDLE);
    expect(readFileSync(log.paths.events, "utf8").split("\n")).toHaveLength(2);
    expect(statSync(rotatedPath(log.paths.events)).size).toBeGreaterThan(9 * 1024 * 1024);
  });

  it("leaves a full log to the process that rotates it, unless that process was killed", () => {
    const directory = temporaryDirectory();
    const log = logIn(directory);
    const { events } = log.paths;
    writeFileSync(events, `${"x".repeat(9 * 1024 * 1024)}\n`);
    symlinkSync("1", `${events}.rotating`);
    recordEvent(log, IDLE);
    expect(readdirSync(directory).sort()).toEqual(["events.jsonl", "events.jsonl.rotating"]);
    lutimesSync(`${events}.rotating`, 0, 0);
    recordEvent(log, IDLE);
    recordEvent(log, IDLE);
    expect(readdirSync(directory)).toEqual(["events.1.jsonl"]);
    expect(readFileSync(rotatedPath(events), "utf8").split("\n")).toHaveLength(5);
  });
});

describe("events of a team", () => {
  it("cover members, messages and tasks, without their texts", async () => {
    const ref = await testTeam(["dev", "rev"]);
    await sendMessage(ref, { from: "dev", to: "rev", text: "a word for rev alone", summary: "hush" });
    const { id } = await addTask(ref, "team-lead", { subject: "dig deep", description: "in the garden" });
    await claimTask(ref, "dev", id);
    await updateTask(ref, "dev", id, { status: "completed" });
    await updateTask(ref, "team-lead", id, { status: "deleted" });
    await removeMember(ref, "rev");
    const events = eventsOf(ref);
    const recorded = events.map(({ ts: _, team: _team, parentSessionId: _session, ...facts }) => facts);
    expect(recorded).toMatchObject([
      { type: "member", what: "joined", agentId: "dev@crew" },
      { type: "member", what: "joined", agentId: "rev@crew" },
      { type: "message", agentId: "dev@crew", from: "dev", to: "rev", size: 20 },
      { type: "task", what: "created", taskId: id, status: "pending", agentId: "team-lead@crew" },
      {
        type: "task",
        what: "changed",
        taskId: id,
        status: "in_progress",
        owner: "dev",
        statusBefore: "pending",
      },
      { type: "task", what: "changed", taskId: id, status: "completed", agentId: "dev@crew" },
      { type: "message", from: "dev", to: "team-lead", protocol: "task_completed" },
      { type: "task", what: "deleted", taskId: id, owner: "dev", agentId: "team-lead@crew" },
      { type: "member", what: "start_failed", agentId: "rev@crew" },
    ]);
    expect(recorded[2]).not.toHaveProperty("protocol");
    expect(events[0]?.parentSessionId).toBe("5f0e2a6e-0000-4000-8000-000000000000");
    expect(readFileSync(ref.paths.events, "utf8")).not.toMatch(/word|hush|dig|garden/);
  });

  it("name the member, its type and the lead's session", async () => {
    const ref = await testTeam(["dev", "rev"]);
    for (const name of ["dev", "rev"]) await patchMember(ref, name, { agentType: `type of ${name}` });
    await sendMessage(ref, { from: "dev", to: "rev", text: "x" });
    const { id } = await addTask(ref, "dev", { subject: "one" });
    await claimTask(ref, "dev", id);
    await removeMember(ref, "rev");
    const end: NewEnding = { id: "left/dev/1", name: "dev", how: "killed", news: "", tasks: [] };
    await claimEnding(ref, end, (config) => moveToFormer(config, "dev", "killed", 1));
    const [, , ...events] = eventsOf(ref);
    expect(events.map(({ what, agentId, agentType }) => [what, agentId, agentType])).toEqual([
      [undefined, "dev@crew", "type of dev"],
      ["created", "dev@crew", "type of dev"],
      ["changed", "dev@crew", "type of dev"],
      ["start_failed", "rev@crew", "type of rev"],
      ["ended", "dev@crew", "type of dev"],
    ]);
    const sessions = new Set(events.map(({ parentSessionId }) => parentSessionId));
    expect(sessions).toEqual(new Set(["5f0e2a6e-0000-4000-8000-000000000000"]));
  });

  it("record a member's end and its cause, once", async () => {
    const ref = await testTeam(["dev"]);
    const end: NewEnding = { id: "left/dev/1", name: "dev", how: "killed", news: "", tasks: [] };
    const leave = (config: TeamConfig) => moveToFormer(config, "dev", "killed", 1);
    await claimEnding(ref, end, leave);
    await claimEnding(ref, end, leave);
    expect(eventsOf(ref).filter(({ what }) => what === "ended")).toMatchObject([
      { type: "member", agentId: "dev@crew", how: "killed" },
    ]);
  });

  it("record a message once, even if it is sent again with the same id", async () => {
    const ref = await testTeam(["dev"]);
    const mail = { from: "system", to: "dev", text: "x", messageId: "event-1" };
    await Promise.all([sendMessage(ref, mail), sendMessage(ref, mail)]);
    await sendMessage(ref, mail);
    expect(eventsOf(ref).filter(({ type }) => type === "message")).toHaveLength(1);
  });

  it("do not fail an operation when they cannot be written", async () => {
    const ref = await testTeam([]);
    mkdirSync(ref.paths.events);
    await addMembers(ref, [{ name: "dev", cwd: "/" }]);
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "x" });
    expect((await addTask(ref, "team-lead", { subject: "one" })).id).toBe("1");
  });
});
