import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Approval } from "../../../src/operations/approvals/approvals.ts";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });

it("teams mode › changes a running lead's mode, starting with its next call", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const tools = [bash("touch begun; until [ -e go ]; do sleep 0.05; done"), bash("touch ran")];
  const agents = { "team-lead": [{ tools }, { say: "That was all." }] };
  writeFileSync(join(t.home, "wait.json"), JSON.stringify({ version: 1, agents }));
  const words = ["run", "--once", "--team", "crew", "--playbook", "wait.json", "--no-sidebar"];
  const person = personInside(t, [...words, "--permission-mode", "bypassPermissions"]);
  await eventually("the first call", () => existsSync(join(t.home, "begun")));
  expect((await teams(["mode", "team-lead", "plan"])).code).toBe(0);
  await person.sees("permission mode is now plan");
  writeFileSync(join(t.home, "go"), "");
  await person.sees("That was all.");
  expect(existsSync(join(t.home, "ran"))).toBe(false);
  expect(await person.code()).toBe(0);
});

it("teams mode plan › restores the previous mode on approval, even after a restart (S64)", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const write = { name: "Write", input: { file_path: "{{plan_file}}", content: "# It" } };
  const exit = { name: "ExitPlanMode", input: {} };
  const dev = [{ say: "ready" }, { tools: [write, exit] }, { say: "done", repeat: true }];
  writeFileSync(join(t.home, "plan.json"), JSON.stringify({ version: 1, agents: { dev } }));
  const member = async () =>
    (JSON.parse((await teams(["status", "--json"])).out) as TeamStatus).members.find(
      ({ name }) => name === "dev",
    );
  const plan = async () => {
    const { approvals } = JSON.parse((await teams(["approvals", "--json"])).out) as {
      readonly approvals: readonly Approval[];
    };
    return approvals.find(({ kind }) => kind === "plan")?.id;
  };
  const place = ["--teammate-mode", "process"];
  await teams(["create", "crew"]);
  const model = `scripted:${join(t.home, "plan.json")}`;
  const spawned = await teams(["spawn", "dev", "--model", model, "--prompt", "Begin.", ...place]);
  expect(spawned.code, spawned.err).toBe(0);
  for (const mode of ["acceptEdits", "plan"]) expect((await teams(["mode", "dev", mode])).code).toBe(0);
  await teams(["send", "dev", "plan it"]);
  const before = await eventually("dev's plan", plan);
  process.kill((await member())?.pid ?? 0, "SIGKILL");
  await eventually("dev's crash", async () => (await member())?.state === "crashed");
  expect((await teams(["resume", ...place])).code).toBe(0);
  const id = await eventually("the new plan", async () => ((await plan()) === before ? undefined : plan()));
  expect((await teams(["approve", id])).code).toBe(0);
  await eventually("dev's mode", async () => (await member())?.mode === "acceptEdits");
  await teams(["kill", "crew", "--force"]);
});

it("plan mode › runs commands that only read, and refuses others", async () => {
  const t = privateTmux();
  // Not the home directory: a repository there would contain all of the person's files.
  const repo = join(t.home, "repo");
  mkdirSync(repo);
  const teams = teamsIn(t.env, repo);
  const saved = (command: string, as: string) => ({ ...bash(command), as });
  const tools = [saved("git log --oneline | head", "log"), saved("touch ran", "touched")];
  const agents = { "team-lead": [{ tools }, { say: "Log: {{log}} Touch: {{touched}}" }] };
  writeFileSync(join(repo, "read.json"), JSON.stringify({ version: 1, agents }));
  const git = (...words: string[]) => execFileSync("git", words, { cwd: repo, env: t.env });
  git("init", "-q");
  git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first of all");
  const run = ["run", "Look.", "--playbook", "read.json", "--permission-mode", "plan"];
  const { out, err } = await teams(run);
  const output = out + err;
  expect(output).toContain("first of all");
  expect(output).toContain("In plan mode, only read-only commands may run");
  expect(existsSync(join(repo, "ran"))).toBe(false);
});
