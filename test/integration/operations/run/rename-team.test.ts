import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { renameTeam } from "../../../../src/operations/run/rename-team.ts";
import { becomeLead } from "../../../../src/operations/run/take-over-lead.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { ownerRecord } from "../../../../src/store/owner-lock.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { findTeam, isCalled } from "../../../../src/team/config/find-team.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { prepareRun } from "../../../../src/team/records/write-records.ts";
import { movableRef, type TeamRef, teamRef } from "../../../../src/team/ref.ts";
import { listTasks } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { script } from "../../../support/processes/script-process.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const OLD = "run-12ab";
const killed = script("team/killed-rename");
const sender = script("team/send-until-gone");

async function generatedTeam(name = OLD): Promise<TeamRef> {
  const root = join(temporaryDirectory(), "home");
  const home = { root, runtime: join(root, "runtime") };
  return createTeamFiles(home, { name, leadSessionId: "s", leadCwd: "/", now: 1 });
}

/** Creates a team with a message for its lead, two linked tasks and a deleted third task. */
async function usedTeam(): Promise<TeamRef> {
  const ref = await generatedTeam();
  await sendMessage(ref, { from: "user", to: LEAD_NAME, text: "hello" });
  await addTask(ref, LEAD_NAME, { subject: "one" });
  await addTask(ref, LEAD_NAME, { subject: "two", blockedBy: ["1"] });
  await addTask(ref, LEAD_NAME, { subject: "three" });
  await updateTask(ref, LEAD_NAME, "3", { status: "deleted" });
  return ref;
}

async function expectWhole(ref: TeamRef): Promise<void> {
  expect((await unreadMessages(ref, LEAD_NAME)).map(({ message }) => message.text)).toEqual(["hello"]);
  expect(listTasks(ref)).toMatchObject([{ subject: "one" }, { subject: "two", blockedBy: ["1"] }]);
}

const namesOf = ({ home }: TeamRef) =>
  ["teams", "tasks"].map((place) => readdirSync(join(home.root, place)).toSorted());

describe("renaming a team", () => {
  it("moves its directories with their content; its former name still finds it", async () => {
    const before = await usedTeam();
    await prepareRun(before, [LEAD_NAME]);
    const ref = movableRef(before);
    expect(await renameTeam(ref, "Review Team")).toBe(true);
    expect(ref.team).toBe("review-team");
    expect(ref.paths.config).toBe(join(ref.home.root, "teams", "review-team", "config.json"));
    await expectWhole(ref);
    const config = readTeam(ref);
    expect(config).toMatchObject({
      name: "review-team",
      leadAgentId: "team-lead@review-team",
      members: [{ agentId: "team-lead@review-team" }],
    });
    expect(namesOf(ref)).toEqual([["review-team"], ["review-team"]]);
    expect(existsSync(before.paths.runtime)).toBe(false);
    expect(findTeam(ref.home, OLD).team).toBe("review-team");
    expect([OLD, "review-team", "run-0000"].map((name) => isCalled(config, name))).toEqual([
      true,
      true,
      false,
    ]);
    // No lock is left, and an id is not used again.
    await sendMessage(ref, { from: "user", to: LEAD_NAME, text: "again" });
    expect(await addTask(ref, LEAD_NAME, { subject: "four" })).toMatchObject({ id: "4" });
    await removeTeamFiles(ref);
    expect(namesOf(ref)).toEqual([[], []]);
  });

  it.each<[string, string, (ref: TeamRef) => unknown]>([
    [
      "a team has the name",
      "taken",
      ({ home }) => createTeamFiles(home, { name: "taken", leadSessionId: "s", leadCwd: "/", now: 1 }),
    ],
    [
      "another program keeps tasks under the name",
      "taken",
      ({ home }) => {
        mkdirSync(join(home.root, "tasks", "taken"), { recursive: true });
        writeFileSync(join(home.root, "tasks", "taken", "1.json"), "{}");
      },
    ],
    [
      "another program's team has the name in capitals",
      "snake",
      ({ home }) => {
        mkdirSync(join(home.root, "teams", "Snake"), { recursive: true });
        writeFileSync(join(home.root, "teams", "Snake", "config.json"), "{}");
      },
    ],
    ["no directory can have the name", "???", () => undefined],
    ["it has a teammate", "free", (ref) => addMembers(ref, [{ name: "ada", cwd: "/" }])],
  ])("changes nothing when %s", async (_when, name, given) => {
    const ref = movableRef(await generatedTeam());
    await given(ref);
    const before = namesOf(ref);
    expect(await renameTeam(ref, name)).toBe(false);
    expect([ref.team, namesOf(ref)]).toEqual([OLD, before]);
    expect(readTeam(ref).name).toBe(OLD);
  });

  it("keeps a name that a person has chosen", async () => {
    const ref = movableRef(await generatedTeam("crew"));
    expect(await renameTeam(ref, "other")).toBe(false);
    expect(readTeam(ref).name).toBe("crew");
  });

  it("is whole under one of the names when its process is killed at any step", async () => {
    const template = await usedTeam();
    await prepareRun(template, [LEAD_NAME]);
    const steps = await killAtEveryStep(async (n) => {
      const root = join(dirname(template.home.root), String(n));
      cpSync(template.home.root, root, { recursive: true, filter: (path) => !path.includes("/runtime") });
      const home = { root, runtime: join(root, "runtime") };
      return {
        child: killed(root, OLD, "review", String(n)),
        check: async () => {
          // The former name finds the team in either directory; the new name finds it once the directory is renamed.
          const ref = findTeam(home, OLD);
          expect(readdirSync(join(root, "teams")).filter((name) => !name.startsWith("."))).toEqual([
            ref.team,
          ]);
          await expectWhole(ref);
          if (ref.team === OLD) expect(await renameTeam(ref, "review")).toBe(true);
          const renamed = teamRef(home, "review");
          // The next lead finishes what is left.
          await becomeLead(contextOf(renamed));
          await expectWhole(renamed);
          expect(readTeam(renamed)).toMatchObject({ name: "review", leadAgentId: "team-lead@review" });
          expect(namesOf(renamed)).toEqual([["review"], ["review"]]);
        },
      };
    });
    expect(steps).toBeGreaterThan(50);
  });

  it("waits until a sender knows that another process has written its message", async () => {
    const before = await generatedTeam();
    const waiting = `${before.paths.inbox(LEAD_NAME)}.waiting`;
    const acknowledged = join(waiting, `${ownerRecord()}.done`);
    mkdirSync(waiting);
    writeFileSync(acknowledged, "");
    const renaming = renameTeam(movableRef(before), "review");
    await eventually("the task lock", () => existsSync(`${before.paths.taskLock}.lock`));
    expect(namesOf(before)).toEqual([[OLD], [OLD]]);
    rmSync(acknowledged);
    expect(await renaming).toBe(true);
    expect(namesOf(before)).toEqual([["review"], ["review"]]);
  });

  it("loses and duplicates no message that other processes send at the same moment", async () => {
    const before = await generatedTeam();
    const ref = movableRef(before);
    const senders = ["a", "b", "c", "d", "e"].map((name) => sender(ref.home.root, OLD, name));
    await eventually("messages from all senders", async () => {
      const texts = (await history(before, LEAD_NAME, { all: true })).map(({ text }) => text[0]);
      return new Set(texts).size === senders.length;
    });
    expect(await renameTeam(ref, "review")).toBe(true);
    const accepted = await Promise.all(
      senders.map(async (one): Promise<string[]> => {
        const sent = JSON.parse(await one.line());
        expect(await one.ended()).toEqual({ code: 0, signal: null, stderr: "" });
        return sent;
      }),
    );
    const arrived = (await history(ref, LEAD_NAME, { all: true })).map(({ text }) => text);
    expect(arrived.toSorted()).toEqual(accepted.flat().toSorted());
  });
});
