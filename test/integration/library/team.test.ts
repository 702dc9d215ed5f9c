import { appendFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTeam, listTeams, openTeam } from "../../../src/library/teams.ts";
import type { TeamEvent } from "../../../src/library/values.ts";
import { KeptFile } from "../../../src/os/files/followed-file.ts";
import { rotatedPath } from "../../../src/telemetry/event-log.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { codeOf, errorOf, libraryTeam, privateOptions } from "../../support/library/library-team.ts";

describe("Team", () => {
  it("is created, listed, opened and deleted", async () => {
    const { team, options } = await libraryTeam();
    expect([team.name, team.actor]).toEqual(["crew", "team-lead"]);
    expect((await listTeams(options)).map(({ name, state }) => [name, state])).toEqual([["crew", "stopped"]]);
    const again = await openTeam("crew", options);
    expect((await again.status()).members.map(({ name }) => name)).toEqual(["team-lead"]);
    await team.delete();
    expect(await codeOf(openTeam("crew", options))).toBe("TEAM_NOT_FOUND");
    expect(await codeOf(again.status())).toBe("TEAM_NOT_FOUND");
  });

  it("is created with the options of its program", async () => {
    const options = privateOptions();
    const given = { description: "Sails.", metadata: { ticket: 7 }, budget: { maxTokens: 5 } };
    const team = await createTeam("crew", { ...options, ...given, agentType: "architect" });
    const { metadata, budget, members } = await team.status();
    expect([metadata, budget, members]).toMatchObject([
      { ticket: 7 },
      { maxTokens: 5 },
      [{ agentType: "architect" }],
    ]);
    expect(await listTeams(options)).toMatchObject([{ name: "crew", description: "Sails." }]);
    expect((await createTeam("crew", { ...options, unique: true })).name).toBe("crew-2");
    expect(await codeOf(createTeam("third", { ...options, agentType: "architec" }))).toBe("INVALID_TYPE");
  });

  it("is not saved, and not deleted, if the signal ends the call", async () => {
    const { team, options } = await libraryTeam();
    const archives = (): string[] => readdirSync(options.cwd).filter((name) => name.includes("tar.gz"));
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [team.export("crew.tar.gz", { signal }), team.delete({ signal })];
    const errors = Promise.all(calls.map((call) => errorOf(call)));
    stop.abort("enough");
    const error = expect.objectContaining({ code: "INTERRUPTED", cause: "enough" });
    expect(await errors).toEqual([error, error]);
    expect(archives()).toEqual([]);
    await team.export("crew.tar.gz");
    expect(archives()).toEqual(["crew.tar.gz"]);
  });

  it("is selected like the team of a command, if no name is given", async () => {
    const { options } = await libraryTeam();
    expect((await openTeam(undefined, options)).name).toBe("crew");
    await createTeam("other", options);
    expect(await codeOf(openTeam(undefined, { ...options, cwd: "/" }))).toBe("INVALID_INPUT");
  });

  it("refuses what the command line refuses", async () => {
    const { team, options } = await libraryTeam();
    expect(await codeOf(createTeam("crew", options))).toBe("TEAM_EXISTS");
    expect(await codeOf(createTeam("t", { ...options, metadata: { _own: 1 } }))).toBe("INVALID_INPUT");
    expect(await codeOf(team.send("nobody", "x"))).toBe("RECIPIENT_NOT_FOUND");
    expect(await codeOf(team.send("team-lead", " "))).toBe("INVALID_INPUT");
    expect(await codeOf(team.send("ada@other", "x"))).toBe("INVALID_INPUT");
    expect(await codeOf(team.tasks.get("one"))).toBe("INVALID_INPUT");
    expect(await codeOf(team.tasks.get("7"))).toBe("TASK_NOT_FOUND");
    expect(await codeOf(team.approvals.approve("perm-1-abc"))).toBe("REQUEST_NOT_FOUND");
    expect(await codeOf(team.peek("team-lead"))).toBe("RECIPIENT_INACTIVE");
    expect(await codeOf(team.shutdown(["team-lead"]))).toBe("INVALID_INPUT");
    expect(() => team.teammate("ada")).toThrow(expect.objectContaining({ code: "AGENT_NOT_FOUND" }));
  });

  it("gives an agent's process no more rights than its commands have", async () => {
    const { team, options } = await libraryTeam();
    const env = { ...options.env, TEAMS_AGENT: "team-lead@crew" };
    const inside = await openTeam("crew", { ...options, env });
    expect(await codeOf(inside.setBudget({ maxTokens: 5 }))).toBe("PERMISSION_DENIED");
    expect(await codeOf(createTeam("second", { ...options, env }))).toBe("ALREADY_LEADING");
    expect(await codeOf(openTeam("crew", { ...options, env, as: "ada" }))).toBe("NOT_LEAD");
    const task = await inside.tasks.add({ subject: "s", verify: "true" });
    expect(task).toMatchObject({ verify: null, proposedVerify: "true", shown: "unconfirmed" });
    expect((await team.setBudget({ maxTokens: 5 })).limits).toEqual({ maxTokens: 5 });
  });

  it("of another program is changed only with `force`", async () => {
    const { team, options, ref } = await libraryTeam();
    const members = [{ name: "team-lead", agentId: "team-lead@crew" }];
    const config = { name: "crew", createdAt: 1, leadAgentId: "team-lead@crew", members };
    writeFileSync(ref.paths.config, JSON.stringify(config));
    const calls = [team.kill(), team.down(), team.resume(), team.delete({ force: true })];
    expect(await Promise.all(calls.map((call) => codeOf(call)))).toEqual(
      calls.map(() => "PERMISSION_DENIED"),
    );
    await (await openTeam("crew", { ...options, force: true })).delete();
    expect(await listTeams(options)).toEqual([]);
  });

  it("adds, changes, claims, proves and removes tasks", async () => {
    const { team } = await libraryTeam();
    const { tasks } = team;
    const first = await tasks.add({ subject: "First", verify: "test -e made", touches: ["src/**"] });
    expect(first).toMatchObject({ id: "1", status: "pending", verify: "test -e made", touches: ["src/**"] });
    await tasks.add({ subject: "Second", blockedBy: ["#1"], metadata: { ticket: 4 } });
    expect(await codeOf(tasks.claim("2"))).toBe("TASK_BLOCKED");
    expect(await tasks.claim()).toMatchObject({ id: "1", owner: "team-lead", status: "in_progress" });
    expect(await codeOf(tasks.done("1"))).toBe("VERIFY_FAILED");
    expect(await tasks.update("1", { verify: "true", subject: "Renamed" })).toMatchObject({ verify: "true" });
    const done = await tasks.done("1");
    expect(done).toMatchObject({ status: "completed", shown: "passed", subject: "Renamed" });
    expect(done.verifyRun).toMatchObject({ outcome: "passed", by: "team-lead", at: expect.any(Number) });
    expect((await tasks.list({ status: "pending" })).map(({ id, metadata }) => [id, metadata])).toEqual([
      ["2", { ticket: 4 }],
    ]);
    await tasks.remove("2");
    expect((await tasks.list()).map(({ id }) => id)).toEqual(["1"]);
    expect((await team.wait({ tasks: true })).tasks.completed).toBe(1);
  });
});

describe("waiting", () => {
  it("rejects with TIMEOUT after the time, and for a wrong time with INVALID_INPUT", async () => {
    const { team } = await libraryTeam();
    const end = await team.wait({ message: true, timeoutMs: 1 }).catch((error: unknown) => error);
    expect(end).toMatchObject({ code: "TIMEOUT", message: "After 1 ms there is no message for team-lead." });
    expect(await codeOf(team.wait({ timeoutMs: Number.NaN }))).toBe("INVALID_INPUT");
  });

  it("rejects with INTERRUPTED and the reason, before and during a wait", async () => {
    const { team } = await libraryTeam();
    const stop = new AbortController();
    const wait = team.wait({
      until: () => {
        setImmediate(() => stop.abort("enough"));
        return false;
      },
      signal: stop.signal,
    });
    expect(await wait.catch((error: unknown) => error)).toMatchObject({
      code: "INTERRUPTED",
      cause: "enough",
    });
    const late = await team.tasks
      .add({ subject: "s" }, { signal: stop.signal })
      .catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
    expect(await team.tasks.list()).toEqual([]);
  });

  it("calls `until` at each change, and ends with its error", async () => {
    const { team } = await libraryTeam();
    const seen: number[] = [];
    const status = await team.wait({
      until: async ({ tasks }) => {
        seen.push(tasks.pending);
        if (tasks.pending < 2) await team.tasks.add({ subject: "s" });
        return tasks.pending === 2;
      },
    });
    expect([seen, status.tasks.pending]).toEqual([[0, 1, 2], 2]);
    const wrong = team.wait({
      until: () => {
        throw new RangeError("wrong");
      },
    });
    await expect(wrong).rejects.toThrow(RangeError);
  });
});

describe("events", () => {
  it("yields past events with `since`, and only new events without it", async () => {
    const { team } = await libraryTeam();
    await team.tasks.add({ subject: "past" });
    const newEvents = team.events();
    await team.tasks.add({ subject: "new" });
    const first = (await newEvents.next()).value as TeamEvent;
    expect(first).toMatchObject({ type: "task", what: "created" });
    await newEvents.return?.();
    const all: string[] = [];
    for await (const event of team.events({ since: 0 })) {
      if (event.type !== "task") continue;
      all.push(event.taskId);
      if (all.length === 2) break;
    }
    expect(all).toEqual(["1", "2"]);
  });

  it("yields every past event, even if the log is rotated meanwhile", async () => {
    const { team, ref } = await libraryTeam();
    const rotate = (): void => renameSync(ref.paths.events, rotatedPath(ref.paths.events));
    await team.tasks.add({ subject: "first" });
    rotate();
    await team.tasks.add({ subject: "second" });
    const events = team.events({ since: 0 });
    await events.next();
    rotate();
    await team.tasks.add({ subject: "third" });
    const seen: string[] = [];
    for await (const event of events) {
      if (event.type === "task") seen.push(event.taskId);
      if (seen.at(-1) === "3") break;
    }
    expect(seen.slice(-2)).toEqual(["2", "3"]);
  });

  it("yields a new event, even if the log is rotated before the first event is requested", async () => {
    const { team, ref } = await libraryTeam();
    await team.tasks.add({ subject: "past" });
    const newEvents = team.events();
    await team.tasks.add({ subject: "new" });
    renameSync(ref.paths.events, rotatedPath(ref.paths.events));
    await team.tasks.add({ subject: "next" });
    const seen: string[] = [];
    for await (const event of newEvents) {
      if (event.type === "task") seen.push(event.taskId);
      if (seen.at(-1) === "3") break;
    }
    expect(seen.slice(-2)).toEqual(["2", "3"]);
  });

  it("ends at once on `return`, on the signal, and when the team is deleted", async () => {
    const { team } = await libraryTeam();
    const returned = team.events();
    const waiting = returned.next();
    await returned.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const stop = new AbortController();
    const stopped = team.events({ signal: stop.signal }).next();
    stop.abort();
    expect(await stopped).toEqual({ done: true, value: undefined });
    await team.tasks.add({ subject: "first" });
    const deleted = team.events({ since: 0 });
    await deleted.next();
    await team.tasks.add({ subject: "last" });
    await team.delete();
    const seen: string[] = [];
    for await (const event of deleted) if (event.type === "task") seen.push(event.taskId);
    expect(seen).toContain("2");
  });
});

describe("KeptFile", () => {
  it("returns each line once, even if the file is replaced or deleted", () => {
    const path = join(temporaryDirectory(), "log");
    const file = new KeptFile(() => path);
    expect(file.lines()).toEqual([]);
    writeFileSync(path, "one\ntw");
    expect(file.lines()).toEqual(["one"]);
    appendFileSync(path, "o\n\nthree\n");
    renameSync(path, `${path}.1`);
    writeFileSync(path, "four é\n");
    expect(file.lines()).toEqual(["two", "three", "four é"]);
    appendFileSync(path, "five\n");
    rmSync(path);
    expect(file.lines()).toEqual(["five"]);
    expect(file.lines()).toEqual([]);
    file.close();
  });

  it("recognizes its file under another path after a rotation between two reads", () => {
    const path = join(temporaryDirectory(), "log");
    const current = new KeptFile(() => path);
    const rotated = new KeptFile(() => `${path}.1`);
    expect(rotated.isSameFile(current)).toBe(false);
    writeFileSync(path, "one\n");
    expect(current.lines()).toEqual(["one"]);
    renameSync(path, `${path}.1`);
    expect(rotated.lines()).toEqual(["one"]);
    expect(rotated.isSameFile(current)).toBe(true);
    writeFileSync(path, "two\n");
    expect(current.lines()).toEqual(["two"]);
    expect(rotated.isSameFile(current)).toBe(false);
    for (const file of [current, rotated]) file.close();
  });
});
