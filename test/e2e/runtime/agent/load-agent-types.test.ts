import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { callsOnce, startFakeMessagesApi, toolUse } from "../../../support/model/fake-messages-api.ts";
import { teamsIn } from "../../../support/processes/built-program.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const SCRIBE = `---
name: scribe
description: Keeps the record.
tools: Read, Grep
disallowedTools: Grep
model: some/model-1
permissionMode: acceptEdits
color: pink
memory: user
---
You are the scribe of the project.
`;

interface Member {
  readonly name: string;
  readonly agentType: string;
  readonly model: string;
  readonly mode: string;
  readonly color: string;
  readonly pid: number;
}

/** Creates a home with agent types of the user and of a project, and a team in it. */
async function home() {
  const tmux = privateTmux();
  for (const directory of [join(tmux.root, "agents"), join(tmux.home, ".claude", "agents")])
    mkdirSync(directory, { recursive: true });
  writeFileSync(join(tmux.root, "agents", "scribe.md"), SCRIBE);
  writeFileSync(join(tmux.root, "agents", "broken.md"), "no front matter");
  const poet = SCRIBE.replace("name: scribe", "name: poet").replace("acceptEdits", "bypassPermissions");
  writeFileSync(join(tmux.home, ".claude", "agents", "poet.md"), poet);
  const teams = teamsIn(tmux.env, tmux.home);
  expect((await teams(["create", "crew", "--agent-type", "SCRIBE"])).code).toBe(0);
  return { tmux, teams };
}

describe("a teammate with a custom agent type", () => {
  it("gets its prompt, tools, model, mode, colour and notes in argv, config and status (S16)", async () => {
    const { tmux, teams } = await home();
    const notes = join(tmux.root, "agent-memory", "scribe");
    const write = (id: string, path: string) => toolUse(id, "Write", { file_path: path, content: "kept" });
    const uses = [write("w1", join(notes, "MEMORY.md")), write("w2", join(tmux.home, "else.md"))];
    const api = await startFakeMessagesApi(callsOnce(uses));
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const words = ["--agent-type", "Scribe", "--prompt", "Write it down.", "--teammate-mode", "process"];
    const ended = await teams(["spawn", "kim", ...words, "--json"], { env });
    const resolved = {
      name: "kim",
      agentType: "scribe",
      model: "some/model-1",
      mode: "acceptEdits",
      color: "pink",
    };
    expect(ended.json()).toMatchObject(resolved);
    const { members } = (await teams(["status", "--json"])).json<{ members: Member[] }>();
    expect(members[0]).toMatchObject({ name: "team-lead", agentType: "scribe" });
    expect(members[1]).toMatchObject(resolved);
    const ps = ["-ww", "-o", "args=", "-p", String(members[1]?.pid)];
    const argv = execFileSync("ps", ps, { encoding: "utf8" });
    expect(argv).toMatch(/--agent-type scribe --permission-mode acceptEdits --model some\/model-1$/m);
    const config = JSON.parse(readFileSync(tmux.paths("crew").config, "utf8")) as { members: unknown[] };
    const { name, agentType, model, mode, color } = resolved;
    expect(config.members[1]).toMatchObject({ name, agentType, model, mode, color });

    await api.received(2);
    const [first, second] = api.requests.map(({ body }) => body);
    const system = JSON.stringify(first.system);
    expect(first.model).toBe("some/model-1");
    expect(system).toContain("You are the scribe of the project.");
    expect(system).toContain("You are kim, a teammate");
    expect(system).toContain("There is no MEMORY.md yet.");
    expect(system).not.toContain("You are a coding agent");
    const tools = (first.tools as { name: string }[]).map((tool) => tool.name);
    expect(tools).toEqual(expect.arrayContaining(["Read", "Write", "Edit", "SendMessage"]));
    for (const absent of ["Grep", "Bash", "Glob"]) expect(tools).not.toContain(absent);
    expect(readFileSync(join(notes, "MEMORY.md"), "utf8")).toBe("kept");
    expect(existsSync(join(tmux.home, "else.md"))).toBe(false);
    expect(JSON.stringify(second.messages)).toContain("You may use Write only for your notes");
  });

  it("is not shown notes that its own deny rule covers", async () => {
    const { tmux, teams } = await home();
    const notes = join(tmux.root, "agent-memory", "scribe");
    mkdirSync(notes, { recursive: true });
    writeFileSync(join(notes, "MEMORY.md"), "Mind the gap.");
    const api = await startFakeMessagesApi(() => ({
      kind: "message",
      blocks: [{ type: "text", text: "Done." }],
    }));
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const words = ["--agent-type", "scribe", "--prompt", "Go.", "--teammate-mode", "process"];
    for (const [i, denied] of [[], ["--disallowed-tools", "Read(MEMORY.md)"]].entries()) {
      expect((await teams(["spawn", `kim-${i}`, ...words, ...denied], { env })).code).toBe(0);
      await api.received(i + 1);
    }
    const [free, bound] = api.requests.map(({ body }) => JSON.stringify(body.system));
    expect(free).toContain("Mind the gap.");
    expect(bound).not.toContain("Mind the gap.");
    expect(bound).toContain("A rule for Read denies MEMORY.md.");
  });

  it("needs a trusted project, then follows its file (S70)", async () => {
    const { tmux, teams } = await home();
    const spawn = (...more: string[]) =>
      teams(["spawn", "kim", "--agent-type", "poet", "--teammate-mode", "process", "--json", ...more]);
    const refused = await spawn();
    expect([refused.code, refused.error().code]).toEqual([2, "INVALID_TYPE"]);
    const file = join(tmux.home, ".claude", "agents", "poet.md");
    expect(refused.error().hint).toContain(`${file} applies only after: teams trust ${tmux.home}`);
    expect(refused.error().hint).toContain("Types: general-purpose");
    expect((await teams(["trust"])).code).toBe(0);
    const asModel = await teams(
      ["spawn", "ada", "--agent-type", "poet", "--teammate-mode", "process", "--json"],
      { env: { TEAMS_AGENT: "team-lead@crew" } },
    );
    // A lead's model cannot grant more than it has, even if a file does; a user can.
    expect(asModel.json()).toMatchObject({ agentType: "poet", mode: "default" });
    expect((await spawn()).json()).toMatchObject({ agentType: "poet", mode: "bypassPermissions" });
    const status = (await teams(["status"])).out.split("\n").find((row) => row.startsWith("kim"));
    expect(status).toContain("bypassPermissions");
    expect((await spawn("--unique", "--permission-mode", "plan", "--model", "haiku")).json()).toMatchObject({
      name: "kim-2",
      mode: "plan",
      model: "claude-haiku-5-5",
    });
  });

  it("cannot be spawned by a lead's model in a directory outside its permissions", async () => {
    const { tmux, teams } = await home();
    const inside = join(tmux.home, "inside");
    mkdirSync(inside);
    const spawn = (cwd: string, agent = "team-lead@crew") =>
      teams(["spawn", "kim", "--unique", "--cwd", cwd, "--teammate-mode", "process", "--json"], {
        env: { TEAMS_AGENT: agent },
      });
    symlinkSync("/", join(inside, "out"));
    for (const cwd of ["..", "/", join(inside, "out")])
      expect((await spawn(cwd)).error()).toMatchObject({ code: "PERMISSION_DENIED" });
    expect((await spawn(inside)).code).toBe(0);
    // A user may choose any directory.
    expect((await spawn("/", "")).code).toBe(0);
  });

  it("gets replaced and appended system prompts, even after a restart", async () => {
    const { teams } = await home();
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const spawn = (name: string, ...more: string[]) =>
      teams(
        [
          "spawn",
          name,
          "--agent-type",
          "scribe",
          "--prompt",
          "Go.",
          "--json",
          "--teammate-mode",
          "process",
          ...more,
        ],
        { env },
      );
    const kim = await spawn("kim", "--append-system-prompt", "Write in verse.");
    await api.received(1);
    expect((await spawn("ada", "--system-prompt", "You are nobody.")).code).toBe(0);
    await api.received(2);
    const system = (at: number): string => JSON.stringify(api.requests[at]?.body.system);
    expect(system(0)).toMatch(/You are the scribe of the project\..*Your team.*Write in verse\./);
    expect(system(1)).toMatch(/You are nobody\..*You are ada, a teammate/);
    expect(system(1)).not.toContain("scribe of the project");
    process.kill(kim.json<{ pid: number }>().pid, "SIGKILL");
    await eventually("the crash", async () => {
      const { members } = (await teams(["status", "--json"])).json<{ members: { state: string }[] }>();
      return members[1]?.state === "crashed";
    });
    expect((await teams(["resume"], { env })).code).toBe(0);
    await teams(["send", "kim", "And again."]);
    await api.received(3);
    expect(system(2)).toMatch(/scribe of the project\..*You are kim, .*Write in verse\./);
  });

  it("run › replaces and extends the lead's system prompt", async () => {
    const { teams } = await home();
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const words = ["--system-prompt", "You are nobody.", "--append-system-prompt", "Speak in verse."];
    const ended = await teams(["run", "the goal", ...words, "--teammate-mode", "process", "--json"], { env });
    expect(ended.json()).toMatchObject({ outcome: "completed", result: "Done." });
    const system = JSON.stringify(api.requests[0]?.body.system);
    expect(system).toMatch(/You are nobody\..*You are team-lead, .*Speak in verse\./);
    expect(system).not.toContain("You are a coding agent");
  });

  it("is refused with the list of types if the type does not exist, even for a lead", async () => {
    const { tmux } = await home();
    const teams = teamsIn(tmux.env, tmux.home);
    const ended = await teams(["create", "other", "--agent-type", "wizard", "--json"]);
    expect(ended.error()).toMatchObject({ code: "INVALID_TYPE", hint: expect.stringContaining(", scribe.") });
    const broken = join(tmux.root, "agents", "broken.md");
    expect(ended.error().hint).toContain(`Not an agent type: ${broken}: its front matter has no name.`);
    const spawned = await teams(["spawn", "kim", "--model", "scripted", "--teammate-mode", "process"]);
    expect(spawned.err).toContain(`Ignored agent type: ${broken}`);
    expect((await teams(["ls", "--json"])).json<{ teams: unknown[] }>().teams).toHaveLength(1);
    const tools = await teams(["spawn", "kim", "--tools", "Bash(git:*)", "--json"]);
    expect(tools.error()).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("not a tool's name"),
    });
  });
});
