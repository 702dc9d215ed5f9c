import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTeam } from "../../../src/library/teams.ts";
import type { Message } from "../../../src/library/values.ts";
import { addSecrets } from "../../../src/os/redact.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import { openRequest, readAnswer } from "../../../src/team/requests/requests.ts";
import { codeOf, libraryTeam } from "../../support/library/library-team.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

/** Creates a team with the idle teammate `ada`, whose process is that of this test, and `ben`, who has crashed. */
async function withTwo() {
  const { team, ref, options } = await libraryTeam();
  await addMembers(ref, [
    { name: "ada", cwd: options.cwd },
    { name: "ben", cwd: options.cwd },
  ]);
  await prepareRun(ref, ["ada", "ben"]);
  writeStatus(ref, "ada", statusOf());
  writeStatus(ref, "ben", statusOf({ state: "running", process: deadProcess() }));
  return { team, ref, options, ada: team.teammate("ada"), ben: team.teammate("ben") };
}

describe("members in the library", () => {
  it("get broadcasts and messages, unless they are not running", async () => {
    const { team, ada, ben } = await withTwo();
    expect(await team.broadcast("The build is green.")).toEqual({ recipients: ["ada"], skipped: ["ben"] });
    expect(await ada.send("Look at it.", { summary: "a request" })).toMatchObject({ to: "ada" });
    expect(await ada.inbox({ unread: true })).toMatchObject([
      { from: "team-lead", text: "The build is green.", read: false, protocol: null },
      { from: "team-lead", text: "Look at it.", summary: "a request" },
    ]);
    expect(await ben.inbox()).toEqual([]);
    expect(await codeOf(team.broadcast(" "))).toBe("INVALID_INPUT");
    // An agent reads its inbox itself.
    expect(await codeOf(ada.inbox({ markRead: true }))).toBe("INVALID_INPUT");
  });

  it("are interrupted only in a turn", async () => {
    const { team, ada, ben } = await withTwo();
    expect(await ada.interrupt()).toEqual({ name: "ada", outcome: "idle" });
    expect(await team.interrupt("ada")).toEqual({ name: "ada", outcome: "idle" });
    expect(await codeOf(ben.interrupt())).toBe("RECIPIENT_INACTIVE");
    expect(await codeOf(team.interrupt("nobody"))).toBe("AGENT_NOT_FOUND");
  });

  it("end the wait for an interrupt by its signal, and keep the request", async () => {
    const { ref, ada } = await withTwo();
    writeStatus(ref, "ada", statusOf({ state: "running" }));
    const stop = new AbortController();
    const asked = ada.interrupt({ signal: stop.signal });
    stop.abort("enough");
    expect(await asked.catch((error: unknown) => error)).toMatchObject({
      code: "INTERRUPTED",
      cause: "enough",
    });
    expect(await ada.inbox()).toMatchObject([{ protocol: "interrupt_request" }]);
  });

  it("get their own modes and limits", async () => {
    const { team, ada } = await withTwo();
    expect(await ada.setMode("acceptEdits")).toMatchObject({ name: "ada", mode: "acceptEdits" });
    expect(await ada.setBudget({ maxTokens: 5 })).toMatchObject({ name: "ada", limits: { maxTokens: 5 } });
    expect((await team.status()).members).toContainEqual(
      expect.objectContaining({ name: "ada", mode: "acceptEdits", budget: { maxTokens: 5 } }),
    );
  });

  it("claim, change and complete tasks themselves", async () => {
    const { team, ada, ben } = await withTwo();
    await team.tasks.add({ subject: "free" });
    expect(await ada.tasks.add({ subject: "hers" })).toMatchObject({ id: "2", owner: "ada" });
    expect(await ada.tasks.claim("1")).toMatchObject({ owner: "ada", status: "in_progress" });
    expect(await codeOf(ada.tasks.claim("2", { exclusive: true }))).toBe("AGENT_BUSY");
    expect(await codeOf(ben.tasks.remove("1"))).toBe("TASK_CLAIMED");
    await team.tasks.add({ subject: "of ben", owner: "ben" });
    const ids = async (tasks: Promise<readonly { readonly id: string }[]>) =>
      (await tasks).map(({ id }) => id);
    expect(await ids(ada.tasks.list())).toEqual(["1", "2"]);
    expect(await ids(team.tasks.list({ owner: "ben" }))).toEqual(["3"]);
    expect(await ada.tasks.done("1")).toMatchObject({ status: "completed" });
    expect(await ids(ada.tasks.list({ status: "pending" }))).toEqual(["2"]);
    const change = { description: "New.", addBlockedBy: ["3"], metadata: { ticket: 4 }, touches: ["src/**"] };
    const { addBlockedBy: blockedBy, ...fields } = change;
    expect(await ada.tasks.update("2", change)).toMatchObject({ ...fields, blockedBy });
    const undone = await ada.tasks.update("2", { removeBlockedBy: ["3"], metadata: { ticket: null } });
    expect([undone.blockedBy, undone.metadata]).toEqual([[], {}]);
  });

  it("have their own requests, and get the answers", async () => {
    const { team, ref, ada, ben } = await withTwo();
    const asked = { from: "ada", at: 1 } as const;
    const question = { id: "question-1-abcdefg", kind: "question", summary: "Which colour?" } as const;
    openRequest(ref, { ...asked, ...question, payload: { question: "Which colour?" } });
    const call = { tool: "Bash", input: { command: "make" }, rules: ["Bash(make)"] };
    const permission = { id: "perm-1-abcdefg", kind: "permission", summary: "Bash(make)" } as const;
    openRequest(ref, { ...asked, ...permission, payload: call });
    expect((await ada.approvals.list()).map(({ id }) => id).sort()).toEqual([permission.id, question.id]);
    expect(await codeOf(ben.approvals.get(question.id))).toBe("REQUEST_NOT_FOUND");
    expect(await codeOf(ben.approvals.approve(question.id, { note: "red" }))).toBe("REQUEST_NOT_FOUND");
    expect(await ada.approvals.get(permission.id)).toMatchObject({ tool: "Bash", input: call.input });
    expect(await ada.approvals.approve(question.id, { note: "red" })).toMatchObject({ from: "ada" });
    expect(readAnswer(ref, question.id)).toMatchObject({ approve: true, note: "red" });
    await team.approvals.approve(permission.id, { always: true, save: "user" });
    const settings = readFileSync(join(ref.home.root, "settings.json"), "utf8");
    expect(JSON.parse(settings)).toMatchObject({ permissions: { allow: ["Bash(make)"] } });
    expect(await ada.approvals.list()).toEqual([]);
    expect(await codeOf(team.approvals.reject(permission.id))).toBe("ALREADY_ANSWERED");
  });

  it("get no secret in a message, and its sender gets a note", async () => {
    const { options } = await withTwo();
    addSecrets({ DEPLOY_TOKEN: "open sesame" });
    const notes: string[] = [];
    const team = await openTeam("crew", { ...options, onNote: (text) => notes.push(text) });
    await team.send("ada", "it is open sesame");
    await team.broadcast("it is open sesame");
    await team.send("ada", "nothing of the kind");
    const note = expect.stringContaining("A secret from your environment was replaced by [secret]");
    expect(notes).toEqual([note, note]);
  });

  it("send as themselves, and their messages are found by sender, time and state", async () => {
    const { team, options } = await withTwo();
    for (const as of ["ada", "ben"]) {
      const member = await openTeam("crew", { ...options, as });
      expect(member.actor).toBe(as);
      await member.send("team-lead", `from ${as}`);
    }
    const texts = async (messages: Promise<readonly Message[]>) => (await messages).map(({ text }) => text);
    expect(await texts(team.inbox({ from: "ada", markRead: true }))).toEqual(["from ada"]);
    expect(await texts(team.inbox({ unread: true }))).toEqual(["from ben"]);
    expect(await texts(team.inbox({ all: true }))).toEqual(["from ada", "from ben"]);
    expect(await texts(team.inbox({ since: 0, all: true }))).toEqual(["from ada", "from ben"]);
    expect(await texts(team.inbox({ since: new Date("9999-01-01") }))).toEqual([]);
    expect(await codeOf(team.inbox({ since: Number.NaN }))).toBe("INVALID_INPUT");
  });
});
