import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { journalLine } from "../../../../src/schema/inbox.ts";
import { readJsonLines } from "../../../../src/store/jsonl.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, removeMember } from "../../../../src/team/members/members.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../../src/team/ref.ts";
import { repairLinks } from "../../../../src/team/repair/repair-dependencies.ts";
import {
  answerRequest,
  listRequests,
  openRequest,
  readAnswer,
  readRequest,
} from "../../../../src/team/requests/requests.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { taskIds } from "../../../../src/team/tasks/task-ids.ts";
import { changeTask, findTask, getTask, listTasks } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { statusOf } from "../../../support/team/status-records.ts";

export interface Case {
  /** Name of the operation in the script `killed-operation`. */
  readonly operation?: string;
  /** Prepares the team, which already has two messages for the member `a` and three tasks. */
  readonly given?: (ref: TeamRef) => Promise<unknown> | unknown;
  /** Checks the state right after the kill, at any step of the operation. */
  readonly holds: (ref: TeamRef) => Promise<unknown> | unknown;
  /** Runs the next operation and checks its result. */
  readonly recovers: (ref: TeamRef) => Promise<unknown> | unknown;
}

const mail = (text: string, more = {}) => ({ from: "b", text, timestamp: "2026-01-01T00:00:00Z", ...more });
const sent = async (ref: TeamRef, agent = "a") =>
  (await history(ref, agent, { all: true })).map(({ text }) => text);
const unread = async (ref: TeamRef) => (await unreadMessages(ref, "a")).map(({ message }) => message.text);
const next = (ref: TeamRef) => sendMessage(ref, { from: "b", to: "a", text: "next" });
const without = (all: readonly string[], one: string) => all.filter((other) => other !== one);
const subjects = (ref: TeamRef) => listTasks(ref).map(({ subject }) => subject);
const files = (ref: TeamRef, part: string) =>
  readdirSync(ref.paths.inboxes).filter((name) => name.includes(part) && !name.startsWith("."));

/** Expects that no task notification reached this agent twice. */
async function expectNotifiedOnce(ref: TeamRef, agent: string): Promise<void> {
  const texts = (await sent(ref, agent)).map((text) => {
    const { type, taskId } = JSON.parse(text);
    return `${type} ${taskId}`;
  });
  expect(new Set(texts).size, texts.join()).toBe(texts.length);
}

/** Repairs the links as the doctor does, and checks that both ends agree. */
async function repairTaskLinks(ref: TeamRef): Promise<void> {
  for (const { id, blocks, blockedBy } of repairLinks(listTasks(ref))) {
    await changeTask(ref, id, (task) => ({ ...task, blocks: [...blocks], blockedBy: [...blockedBy] }));
  }
  for (const { id, blocks, blockedBy } of listTasks(ref)) {
    for (const other of blocks) expect(getTask(ref, other).blockedBy).toContain(id);
    for (const other of blockedBy) expect(getTask(ref, other).blocks).toContain(id);
  }
}

/** Truncates the inbox, as if a program was killed while it wrote the file. */
const truncateInbox = (ref: TeamRef) => {
  const text = `${readFileSync(ref.paths.inbox("a"), "utf8").slice(0, -1)},{"from":"b","te`;
  truncated.set(dirname(ref.home.root), text);
  writeFileSync(ref.paths.inbox("a"), text);
};
const truncated = new Map<string, string>();
const RUBBISH = [null, 5, { from: "x" }];
const READ = Array.from({ length: 50 }, (_, i) => mail(`read ${i}`, { read: true }));

export const CASES: Readonly<Record<string, Case>> = {
  "send a message": {
    operation: "send",
    holds: async (ref) => expect(without(await sent(ref), "new")).toEqual(["one", "two"]),
    recovers: async (ref) => {
      const before = await unread(ref);
      await next(ref);
      expect(await unread(ref)).toEqual([...before, "next"]);
      expect(await sent(ref)).toEqual([...before, "next"]);
    },
  },
  "send into a broken inbox": {
    operation: "send",
    given: truncateInbox,
    holds: (ref) => {
      const kept = ["a.json", ...files(ref, "broken-")].map((name) =>
        readFileSync(join(ref.paths.inboxes, name), "utf8"),
      );
      expect(kept).toContain(truncated.get(dirname(ref.home.root)));
    },
    recovers: async (ref) => {
      await next(ref);
      expect(without(await unread(ref), "new")).toEqual(["one", "two", "next"]);
      const kept = files(ref, "broken-").map((name) => readFileSync(join(ref.paths.inboxes, name), "utf8"));
      expect(new Set(kept)).toEqual(new Set([truncated.get(dirname(ref.home.root))]));
    },
  },
  "quarantine bad entries": {
    operation: "pick",
    given: (ref) =>
      writeFileSync(ref.paths.inbox("a"), JSON.stringify([mail("one"), ...RUBBISH, mail("two")])),
    holds: (ref) => {
      const inbox = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"));
      if (files(ref, ".bad.jsonl").length === 0) expect(inbox).toEqual(expect.arrayContaining(RUBBISH));
    },
    recovers: async (ref) => {
      expect(await unread(ref)).toEqual(["one", "two"]);
      const quarantined = readFileSync(join(ref.paths.inboxes, "a.bad.jsonl"), "utf8");
      for (const one of RUBBISH) expect(quarantined).toContain(`"entry":${JSON.stringify(one)}}\n`);
    },
  },
  "mark as read": {
    operation: "mark",
    given: (ref) => {
      const inbox = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"));
      writeFileSync(ref.paths.inbox("a"), JSON.stringify([...READ, ...inbox]));
    },
    holds: async (ref) => {
      const all = await sent(ref);
      expect(all.toSorted()).toEqual([...READ.map(({ text }) => text), "one", "two"].toSorted());
      expect(["", "one,two"]).toContain((await unread(ref)).join());
    },
    recovers: async (ref) => {
      await markAsRead(
        ref,
        "a",
        (await unreadMessages(ref, "a")).map(({ key }) => key),
      );
      expect(await unread(ref)).toEqual([]);
      expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8")).length).toBeLessThan(52);
      expect(await sent(ref)).toHaveLength(52);
    },
  },
  "record progress": {
    operation: "progress",
    holds: () => undefined,
    recovers: async (ref) => {
      await recordProgress(ref, "a", ["z"], "done");
      const { lines, bad } = readJsonLines(ref.paths.journal, journalLine);
      expect(lines.at(-1)?.id).toBe("z");
      // The line that the killed process was writing.
      expect(bad).toBeLessThanOrEqual(1);
    },
  },
  "create a task": {
    operation: "create",
    holds: (ref) => {
      expect(without(subjects(ref), "new")).toEqual(["one", "two", "three"]);
      expect(findTask(ref, "4")?.blockedBy ?? ["1", "2"]).toEqual(["1", "2"]);
    },
    recovers: async (ref) => {
      const before = subjects(ref);
      await addTask(ref, "b", { subject: "next" });
      expect(subjects(ref)).toEqual([...before, "next"]);
      await repairTaskLinks(ref);
      if (before.includes("new")) expect(getTask(ref, "1").blocks).toEqual(["4"]);
    },
  },
  "claim a task": {
    operation: "claim",
    holds: (ref) => {
      const { owner, status } = getTask(ref, "1");
      expect(["undefined pending", "a in_progress"]).toContain(`${owner} ${status}`);
    },
    recovers: async (ref) => {
      const claim = claimTask(ref, "b", "1");
      if (getTask(ref, "1").owner === "a")
        await expect(claim).rejects.toMatchObject({ code: "TASK_CLAIMED" });
      else expect((await claim).owner).toBe("b");
    },
  },
  "complete a task": {
    operation: "complete",
    given: async (ref) => {
      await claimTask(ref, "a", "1");
      await updateTask(ref, "team-lead", "2", { addBlockedBy: ["1"], owner: "b" });
      await markAsRead(
        ref,
        "b",
        (await unreadMessages(ref, "b")).map(({ key }) => key),
      );
    },
    holds: (ref) => expect(["in_progress", "completed"]).toContain(getTask(ref, "1").status),
    recovers: async (ref) => {
      await updateTask(ref, "a", "1", { status: "completed" });
      expect(getTask(ref, "1").status).toBe("completed");
      await expectNotifiedOnce(ref, "team-lead");
    },
  },
  "link tasks": {
    operation: "link",
    holds: (ref) => expect(subjects(ref)).toEqual(["one", "two", "three"]),
    recovers: async (ref) => {
      await repairTaskLinks(ref);
      await updateTask(ref, "a", "3", { addBlocks: ["1"], addBlockedBy: ["2"] });
      await repairTaskLinks(ref);
      expect(getTask(ref, "3")).toMatchObject({ blocks: ["1"], blockedBy: ["2"] });
    },
  },
  "delete a task": {
    operation: "delete",
    given: (ref) => updateTask(ref, "a", "3", { addBlocks: ["1"], addBlockedBy: ["2"] }),
    holds: (ref) => expect(without(subjects(ref), "three")).toEqual(["one", "two"]),
    recovers: async (ref) => {
      if (findTask(ref, "3") !== undefined) await updateTask(ref, "team-lead", "3", { status: "deleted" });
      expect((await addTask(ref, "b", { subject: "next" })).id).toBe("4");
      await repairTaskLinks(ref);
      expect([getTask(ref, "1").blockedBy, getTask(ref, "2").blocks]).toEqual([[], []]);
    },
  },
  "add members": {
    operation: "join",
    given: async (ref) => {
      await addMembers(ref, [{ name: "back", cwd: "/" }]);
      await sendMessage(ref, { from: "b", to: "back", text: "to the former" });
      await retireMember(ref, "back", "killed");
    },
    holds: async (ref) => {
      const names = readTeam(ref).members.map(({ name }) => name);
      expect(["team-lead,a,b", "team-lead,a,b,back,c"]).toContain(names.join());
      expect(await sent(ref, "back")).toEqual(["to the former"]);
    },
    recovers: async (ref) => {
      const isDone = readTeam(ref).members.length > 3;
      if (!isDone)
        await addMembers(
          ref,
          ["back", "c"].map((name) => ({ name, cwd: "/" })),
        );
      expect(await unreadMessages(ref, "back")).toEqual([]);
      expect(await history(ref, "back", { all: true })).toMatchObject([{ state: "bounced" }]);
      expect(readTeam(ref)).toMatchObject({ joinedCount: 5 });
    },
  },
  "retire a member": {
    operation: "retire",
    holds: (ref) => {
      const { members, former = [] } = readTeam(ref);
      expect([...members, ...former].filter(({ name }) => name === "a")).toHaveLength(1);
    },
    recovers: async (ref) => {
      await retireMember(ref, "a", "shutdown");
      expect(readTeam(ref).former).toMatchObject([{ name: "a" }]);
    },
  },
  "remove a member": {
    operation: "remove a member",
    holds: async (ref) => expect(await sent(ref)).toEqual(["one", "two"]),
    recovers: async (ref) => {
      await removeMember(ref, "a");
      expect(existsSync(ref.paths.inbox("a"))).toBe(false);
      expect(readStatus(ref, "a")).toBeUndefined();
      expect(await history(ref, "a", { all: true })).toMatchObject([
        { text: "one", state: "bounced" },
        { text: "two", state: "bounced" },
      ]);
    },
  },
  "write a status": {
    operation: "status",
    holds: (ref) => expect(["old", "new"]).toContain(readStatus(ref, "a")?.activity),
    recovers: (ref) => {
      writeStatus(ref, "a", statusOf({ activity: "next" }));
      expect(readStatus(ref, "a")?.activity).toBe("next");
    },
  },
  "open a request": {
    operation: "ask",
    holds: (ref) =>
      expect(["old", "old,new"]).toContain(
        listRequests(ref)
          .map(({ id }) => id)
          .join(),
      ),
    recovers: (ref) => {
      openRequest(ref, { id: "new", kind: "plan", from: "a", summary: "", payload: {}, at: 2 });
      expect(readRequest(ref, "new").at).toBe(2);
    },
  },
  "answer a request": {
    operation: "answer",
    holds: (ref) => expect([undefined, "b"]).toContain(readAnswer(ref, "old")?.by),
    recovers: async (ref) => {
      const before = readAnswer(ref, "old");
      const answer = await answerRequest(ref, "old", { approve: false, by: "c", at: 4 });
      expect(answer).toBe(before === undefined ? "answered" : "already");
      expect(readAnswer(ref, "old")?.by).toBe(before?.by ?? "c");
    },
  },
  "create a team": {
    operation: "create a team",
    holds: (ref) => {
      const made = teamRef(ref.home, "other");
      if (existsSync(made.paths.dir)) expect(readTeam(made).members).toHaveLength(1);
    },
    recovers: async (ref) => {
      const made = teamRef(ref.home, "other");
      const isThere = existsSync(made.paths.dir);
      if (!isThere)
        await createTeamFiles(ref.home, { name: "other", leadSessionId: "s", leadCwd: "/", now: 2 });
      await addTask(made, "team-lead", { subject: "next" });
      await sendMessage(made, { from: "b", to: "team-lead", text: "next" });
      expect(without(subjects(made), "first")).toEqual(["next"]);
    },
  },
  "delete a team": {
    operation: "remove a team",
    holds: async (ref) => {
      if (!existsSync(ref.paths.dir)) return;
      expect(await sent(ref)).toEqual(["one", "two"]);
      expect(subjects(ref)).toEqual(["one", "two", "three"]);
    },
    recovers: async (ref) => {
      if (existsSync(ref.paths.dir)) await removeTeamFiles(ref);
      await createTeamFiles(ref.home, { name: "crew", leadSessionId: "s", leadCwd: "/", now: 2 });
      expect(taskIds(ref)).toEqual([]);
      expect(readdirSync(ref.paths.inboxes)).toEqual([]);
    },
  },
};
