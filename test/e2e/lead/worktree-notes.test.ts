import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { git } from "../../support/files/git.ts";
import { callsOnce, startFakeMessagesApi, toolUse } from "../../support/model/fake-messages-api.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const SCRIBE = `---
name: scribe
description: Keeps the record.
memory: project
---
You are the scribe.
`;

it("a teammate in a worktree › gets the notes of its branch and type, and the trust and user rules of the main worktree", async () => {
  const t = privateTmux();
  const repository = join(realpathSync(t.home), "repo");
  const here = join(repository, "app");
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  put(join(repository, "CLAUDE.md"), "House rule of the top.");
  put(join(here, "AGENTS.md"), "House rule of the app.");
  put(join(here, ".claude", "agents", "scribe.md"), SCRIBE);
  put(join(here, ".claude", "settings.json"), JSON.stringify({ permissions: { allow: ["Bash(touch a)"] } }));
  git(repository, "init", "--quiet", "--initial-branch=main");
  git(repository, "add", ".");
  git(repository, "commit", "--quiet", "-m", "first");
  const notes = join(here, ".claude", "agent-memory", "scribe");
  put(join(notes, "MEMORY.md"), "Mind the gap.");
  const local = join(here, ".claude", "settings.local.json");
  put(local, JSON.stringify({ permissions: { allow: ["Bash(touch b)"] } }));
  // The main worktree now differs from the branch.
  put(join(repository, "CLAUDE.md"), "Not committed.");

  const uses = [
    toolUse("u1", "Bash", { command: "touch a" }),
    toolUse("u2", "Bash", { command: "touch b" }),
    toolUse("u3", "Write", { file_path: join(notes, "more.md"), content: "noted" }),
    toolUse("u4", "Bash", { command: "touch c" }),
  ];
  const api = await startFakeMessagesApi(callsOnce(uses));
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const teams = teamsIn(env, here);
  await teams(["create", "crew"]);
  expect((await teams(["trust"])).code).toBe(0);
  const words = ["--agent-type", "scribe", "--worktree", "--prompt", "go", "--teammate-mode", "process"];
  const spawned = await teams(["spawn", "kim", ...words, "--json"]);
  expect([spawned.code, spawned.err]).toEqual([0, ""]);
  const { cwd, worktree } = spawned.json<{ cwd: string; worktree: string }>();
  expect(cwd).toBe(join(worktree, "app"));

  // Only the last call asks; the saved answer is a rule of the user, not a change in the worktree.
  const [{ id }] = await eventually("the question", async () => {
    const { approvals } = (await teams(["approvals", "--json"])).json<{
      approvals: [{ id: string; summary: string }];
    }>();
    return approvals.length > 0 && approvals;
  });
  expect((await teams(["approve", id, "--save", "local"])).code).toBe(0);
  await api.received(2);
  const system = JSON.stringify(api.requests[0]?.body.system);
  for (const text of [
    "House rule of the top.",
    "House rule of the app.",
    "You are the scribe.",
    "Mind the gap.",
  ])
    expect(system).toContain(text);
  expect(system).not.toContain("Not committed.");
  expect(["a", "b", "c"].map((name) => existsSync(join(cwd, name)))).toEqual([true, true, true]);
  expect(readFileSync(join(notes, "more.md"), "utf8")).toBe("noted");
  expect(JSON.parse(readFileSync(local, "utf8"))).toEqual({
    permissions: { allow: ["Bash(touch b)", "Bash(touch c)"] },
  });
  expect(git(worktree, "status", "--porcelain").split("\n")).toEqual(["?? app/a", "?? app/b", "?? app/c"]);
  await teams(["kill", "crew", "--force"]);
});
