import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TeammateWaitOptions } from "../../../src/library/parts.ts";
import type { Teammate } from "../../../src/library/teammate.ts";
import { openTeam } from "../../../src/library/teams.ts";
import { addMembers, removeMember } from "../../../src/team/members/members.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { codeOf, errorOf, libraryTeam } from "../../support/library/library-team.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

/** Creates a team whose teammate `ada` is idle: its process is that of this test. */
async function withAda(): Promise<Awaited<ReturnType<typeof libraryTeam>> & { readonly ada: Teammate }> {
  const made = await libraryTeam();
  await addMembers(made.ref, [{ name: "ada", cwd: made.options.cwd }]);
  await prepareRun(made.ref, ["ada"]);
  writeStatus(made.ref, "ada", statusOf());
  return { ...made, ada: made.team.teammate("ada") };
}

/** Makes `ada` a member that crashed. */
function crash(ref: TeamRef): void {
  writeStatus(ref, "ada", statusOf({ state: "running", process: deadProcess() }));
}

describe("Teammate.wait", () => {
  it.each<[TeammateWaitOptions, string]>([
    [{ message: true }, "there is no unread message from ada to team-lead"],
    [{ tasks: true }, "1 of 2 tasks of ada are not completed"],
    [{ until: () => false }, "the condition `until` is not met"],
    [{ idle: true, until: () => false }, "ada has \\d unread messages"],
  ])("%o › says at its time limit what is missing", async (condition, missing) => {
    const { ada, team } = await withAda();
    const { id } = await ada.tasks.add({ subject: "done" });
    await team.tasks.update(id, { status: "completed" });
    await ada.tasks.add({ subject: "open" });
    await team.tasks.add({ subject: "of another" });
    expect(await errorOf(ada.wait({ ...condition, timeoutMs: 1 }))).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringMatching(`^After 1 ms ${missing}\\.$`),
    });
  });

  it("says at its time limit what the member is doing", async () => {
    const { ada, ref } = await withAda();
    writeStatus(ref, "ada", statusOf({ state: "running" }));
    expect(await errorOf(ada.wait({ timeoutMs: 1 }))).toMatchObject({
      message: "After 1 ms ada is running.",
    });
    writeStatus(ref, "ada", statusOf());
    expect(await errorOf(ada.wait({ idle: true, until: () => false, timeoutMs: 1 }))).toMatchObject({
      message: "After 1 ms the condition `until` is not met.",
    });
  });

  it.each<TeammateWaitOptions>([{ message: true }, { tasks: true }, { idle: true }, {}])(
    "%o › ends if the member crashes",
    async (condition) => {
      const { ada, ref } = await withAda();
      await ada.tasks.add({ subject: "open" });
      crash(ref);
      expect(await codeOf(ada.wait(condition))).toBe("RECIPIENT_INACTIVE");
    },
  );

  it("still resolves for the completed tasks of a crashed member, and for the condition `until`", async () => {
    const { ada, ref } = await withAda();
    crash(ref);
    expect(await ada.wait({ tasks: true })).toMatchObject({ name: "ada", state: "crashed" });
    const until = ({ members }: { readonly members: readonly { readonly state: string }[] }): boolean =>
      members.some(({ state }) => state === "crashed");
    expect(await ada.wait({ until })).toMatchObject({ state: "crashed" });
  });

  it("ends when the member leaves the team", async () => {
    const { ref, ada } = await withAda();
    let leaving: Promise<unknown> | undefined;
    const wait = ada.wait({
      message: true,
      until: () => {
        leaving ??= removeMember(ref, "ada");
        return true;
      },
    });
    expect(await codeOf(wait)).toBe("AGENT_NOT_FOUND");
    await leaving;
  });

  it("ends when the team is deleted", async () => {
    const { ref, ada } = await withAda();
    const wait = ada.wait({
      until: () => {
        setImmediate(() => rmSync(ref.paths.dir, { recursive: true, force: true }));
        return false;
      },
    });
    expect(await codeOf(wait)).toBe("TEAM_NOT_FOUND");
  });
});

describe("Team.wait", () => {
  it("notes once each task that cannot be read", async () => {
    const { options, ref } = await libraryTeam();
    const notes: string[] = [];
    const team = await openTeam("crew", { ...options, onNote: (text) => notes.push(text) });
    const broken = await team.tasks.add({ subject: "broken" });
    const { id } = await team.tasks.add({ subject: "open" });
    writeFileSync(ref.paths.task(broken.id), '{"id":');
    const wait = team.wait({
      tasks: true,
      until: async ({ tasks }) => {
        if (tasks.completed === 0) await team.tasks.update(id, { status: "completed" });
        return true;
      },
    });
    expect(await wait).toMatchObject({ tasks: { completed: 1, broken: [broken.id] } });
    expect(notes.filter((text) => text.includes(`#${broken.id} cannot be read`))).toHaveLength(1);
  });
});

describe("an error of the caller's function", () => {
  it("is thrown as it is, even if it looks like an error of the system or of the library", async () => {
    const { team } = await libraryTeam();
    const errors = [
      Object.assign(new Error("EACCES: open"), { code: "EACCES", syscall: "open" }),
      new TypeError("wrong"),
      "a text",
    ];
    for (const own of errors) {
      const wait = team.wait({
        until: () => {
          throw own;
        },
      });
      expect(await errorOf(wait)).toBe(own);
    }
  });

  it("is an interruption if it is the reason of the signal", async () => {
    const { team } = await libraryTeam();
    const stop = new AbortController();
    const wait = team.wait({
      signal: stop.signal,
      until: () => {
        stop.abort(new Error("enough"));
        stop.signal.throwIfAborted();
        return true;
      },
    });
    expect(await errorOf(wait)).toMatchObject({ code: "INTERRUPTED", cause: { message: "enough" } });
  });
});

describe("an error in events", () => {
  it("names the log", async () => {
    const { team, ref } = await libraryTeam();
    rmSync(ref.paths.events, { force: true });
    mkdirSync(ref.paths.events);
    expect(await errorOf(team.events().next())).toMatchObject({
      code: "PERMISSION_DENIED",
      message: `${ref.paths.events} cannot be read (EISDIR: illegal operation on a directory).`,
    });
    expect(() => team.events({ since: Number.NaN })).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });
});
