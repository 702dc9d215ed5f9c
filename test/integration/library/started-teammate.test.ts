import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SpawnOptions } from "../../../src/library/options.ts";
import { openTeam } from "../../../src/library/teams.ts";
import type { TeamEvent } from "../../../src/library/values.ts";
import { readMetadata } from "../../../src/schema/member-metadata.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { lookUpMember } from "../../../src/team/members/members.ts";
import { codeOf, errorOf, libraryTeam } from "../../support/library/library-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** Longer than any stall of the machine. */
const PATIENT = { timeoutMs: 180_000 };

/** Creates a team, and options for a teammate without a pane that plays these turns. */
async function withPlay(...turns: readonly object[]) {
  const made = await libraryTeam();
  const playbook = join(made.options.cwd, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents: { "*": turns } }));
  onTestFinished(async () => void (await made.team.delete({ force: true })));
  const start = { model: `scripted:${playbook}`, teammateMode: "process" } as const;
  return { ...made, start };
}

describe("a teammate that the library starts", () => {
  it("has the options of its start", async () => {
    const { team, ref, options, start } = await withPlay({ say: "I begin." });
    mkdirSync(join(options.cwd, "sub"));
    const chosen: SpawnOptions = {
      ...start,
      permissionMode: "acceptEdits",
      cwd: "sub",
      allowedTools: ["Bash(git:*)"],
      disallowedTools: ["Bash(git push:*)"],
      tools: ["Read", "Bash"],
      systemPrompt: "You read.",
      appendSystemPrompt: "You read slowly.",
      budget: { maxTokens: 5_000 },
      metadata: { ticket: 7 },
      recording: "casts",
      debug: true,
    };
    const ada = await team.spawn("ada", chosen);
    expect(await ada.status()).toMatchObject({
      ...{ name: "ada", mode: "acceptEdits", backend: "process", alive: true },
      ...{ cwd: join(options.cwd, "sub"), budget: { maxTokens: 5_000 }, metadata: { ticket: 7 } },
    });
    const member = lookUpMember(readTeam(ref), "ada");
    if (member === undefined) throw new Error("ada is not a member.");
    const { allowedTools, disallowedTools } = member;
    expect([allowedTools, disallowedTools]).toEqual([["Bash(git:*)"], ["Bash(git push:*)"]]);
    expect(readMetadata(member, "tools")).toEqual(["Read", "Bash"]);
    expect(readMetadata(member, "promptOverrides")).toEqual({
      override: "You read.",
      append: "You read slowly.",
    });
    expect(readMetadata(member, "recording")).toBe(join(options.cwd, "casts"));
    expect(await codeOf(team.spawn("ada", start))).toBe("DUPLICATE_NAME");
    expect((await team.spawn("ada", { ...start, unique: true })).name).toBe("ada-2");
  });

  it("has notes if it will not answer, and if it is not recorded", async () => {
    const { team, options } = await libraryTeam();
    onTestFinished(async () => void (await team.delete({ force: true })));
    const notesOf = async (name: string, key: string): Promise<readonly string[]> => {
      const notes: string[] = [];
      const keys = { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: "", ANTHROPIC_BASE_URL: "" };
      const env = { ...options.env, ...keys };
      const crew = await openTeam("crew", { ...options, env, onNote: (text) => notes.push(text) });
      await crew.spawn(name, { model: "scripted", teammateMode: "process", recording: true });
      return notes;
    };
    expect(await notesOf("ada", "")).toEqual([
      "ada is not recorded: it has no tmux pane.",
      expect.stringMatching(/^No model is set up, and no playbook has a part for ada: it will not answer\./),
    ]);
    expect(await notesOf("ben", "sk-test")).toEqual([
      "ben is not recorded: it has no tmux pane.",
      expect.stringMatching(/^The built-in playbook has no part for ben: it will not answer\./),
    ]);
  });

  it("leaves nothing if the signal ends its start", async () => {
    const { team, start } = await withPlay({ say: "I begin." });
    const stop = new AbortController();
    const starting = team.spawn("ada", { ...start, signal: stop.signal });
    stop.abort("enough");
    expect(await errorOf(starting)).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
    expect((await team.status()).members.map(({ name }) => name)).toEqual(["team-lead"]);
  });

  it("shows its screen and its events, and shuts down", async () => {
    const { team, start } = await withPlay({ on: { contains: "Begin" }, say: "I began." });
    const ada = await team.spawn("ada", { ...start, prompt: "Begin." });
    await ada.wait(PATIENT);
    await eventually("her output", async () => (await ada.peek()).join("\n").includes("I began."));
    expect(await team.peek("ada", { lines: 1 })).toHaveLength(1);
    const seen: TeamEvent[] = [];
    for await (const event of ada.events({ since: 0 })) {
      seen.push(event);
      if (event.type === "agent" && event.what === "turn_ended") break;
    }
    expect(new Set(seen.map(({ agentId }) => agentId))).toEqual(new Set(["ada@crew"]));
    expect(await ada.shutdown({ ...PATIENT, reason: "Enough." })).toMatchObject({ outcome: "approved" });
    expect(await codeOf(ada.status())).toBe("AGENT_NOT_FOUND");
    expect(await codeOf(ada.peek())).toBe("AGENT_NOT_FOUND");
  });

  it("is asked to shut down, and runs on if the signal ends the wait or the time is over", async () => {
    const { team, start, options } = await withPlay({
      on: { contains: "Begin" },
      tools: [{ name: "Bash", input: { command: "touch begun; until [ -e go ]; do sleep 0.1; done" } }],
    });
    const ada = await team.spawn("ada", { ...start, permissionMode: "bypassPermissions", prompt: "Begin." });
    await eventually("her command", () => existsSync(join(options.cwd, "begun")));
    expect(await team.shutdown(["ada"], { timeoutMs: 1 })).toEqual([{ name: "ada", outcome: "timed-out" }]);
    const stop = new AbortController();
    const asked = ada.shutdown({ ...PATIENT, signal: stop.signal });
    stop.abort("enough");
    expect(await errorOf(asked)).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
    expect(await ada.status()).toMatchObject({ alive: true });
    expect(await ada.kill({ force: true })).toMatchObject({ name: "ada", outcome: "killed", left: [] });
    expect((await team.status()).members.map(({ name }) => name)).toEqual(["team-lead"]);
  });

  it("keeps running, and still has the shutdown request, if the signal ends the wait of `down`", async () => {
    const { team, start, options } = await withPlay({
      on: { contains: "Begin" },
      tools: [{ name: "Bash", input: { command: "touch begun; until [ -e go ]; do sleep 0.1; done" } }],
    });
    const ada = await team.spawn("ada", { ...start, permissionMode: "bypassPermissions", prompt: "Begin." });
    await eventually("her command", () => existsSync(join(options.cwd, "begun")));
    const stop = new AbortController();
    const stopping = errorOf(team.down({ ...PATIENT, signal: stop.signal }));
    await eventually("the request", async () =>
      (await ada.inbox({ all: true })).some(({ protocol }) => protocol === "shutdown_request"),
    );
    stop.abort("enough");
    expect(await stopping).toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted before ada had ended; the shutdown request stays open.",
      cause: "enough",
      details: { reports: [{ name: "ada", outcome: "timed-out" }] },
    });
    expect(await ada.status()).toMatchObject({ alive: true });
  });

  it("stays in a team that is stopped, and is started again unless the signal ends that", async () => {
    const { team, start } = await withPlay(
      { on: { contains: "Begin" }, say: "I began." },
      { on: { contains: "Go on" }, say: "I went on." },
    );
    const ada = await team.spawn("ada", { ...start, prompt: "Begin." });
    await ada.wait(PATIENT);
    expect(await team.down(PATIENT)).toMatchObject([{ name: "ada", outcome: "approved" }]);
    expect(await ada.status()).toMatchObject({ alive: false });
    const stop = new AbortController();
    const resuming = team.resume({ signal: stop.signal });
    stop.abort("enough");
    expect(await errorOf(resuming)).toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted before the first start; nothing was started.",
      cause: "enough",
    });
    expect(await ada.status()).toMatchObject({ alive: false });
    expect(await ada.resume()).toMatchObject({ name: "ada", outcome: "restarted", backend: "process" });
    expect(await ada.resume()).toMatchObject({ name: "ada", outcome: "alive" });
    await ada.send("Go on.");
    await ada.wait(PATIENT);
    await eventually("her output", async () => (await ada.peek()).join("\n").includes("I went on."));
  });
});
