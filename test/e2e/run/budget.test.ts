import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { TeamStatus } from "../../../src/operations/status.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

function home(agents: Readonly<Record<string, readonly PlaybookTurn[]>>) {
  const own = privateTmux();
  const book = join(own.home, "book.json");
  writeFileSync(book, JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(own.env, own.home);
  const member = async (name: string) => {
    const { code, out } = await teams(["status", "--json"]);
    if (code !== 0) return undefined;
    return (JSON.parse(out) as TeamStatus).members.find((one) => one.name === name);
  };
  const inState = (name: string, state: string) =>
    eventually(`${name} to be ${state}`, async () => (await member(name))?.state === state);
  return { own, book, teams, member, inState };
}

const usage = { input: 90, output: 10 };
const bash = (command: string) => ({ name: "Bash", input: { command } });

it("token budget › pauses a run until a command raises the budget", async () => {
  const { own, book, teams, inState } = home({
    "team-lead": [{ tools: [bash("true")], usage }, { say: "the goal is reached" }],
  });
  const words = ["run", "Go.", "--team", "crew", "--playbook", book, "--max-tokens", "100"];
  const { child, ended } = startTeams(
    [...words, "--permission-mode", "bypassPermissions"],
    own.env,
    own.home,
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  child.stdout?.on("data", (bytes) => {
    out += String(bytes);
  });
  await inState("team-lead", "paused");
  await eventually("the note", () => out.includes("has used up its budget (100 of 100 tokens)"));
  expect(out).not.toContain("the goal is reached");
  expect((await teams(["budget", "--team", "crew", "--max-tokens", "1000"])).code).toBe(0);
  expect(await ended).toBe(0);
  expect(out).toContain("the goal is reached");
});

it("token budget › still applies after a teammate was killed and restarted", async () => {
  const { book, teams, member, inState } = home({
    dev: [
      { tools: [bash("true")], usage },
      { say: "done", repeat: true },
    ],
  });
  await teams(["create", "crew"]);
  const spawned = await teams([
    ...["spawn", "dev", "--model", `scripted:${book}`, "--prompt", "Begin.", "--max-tokens", "100"],
    ...["--teammate-mode", "process", "--permission-mode", "bypassPermissions"],
  ]);
  expect(spawned.code).toBe(0);
  await inState("dev", "paused");
  process.kill((await member("dev"))?.pid ?? 0, "SIGKILL");
  await inState("dev", "crashed");
  expect((await teams(["resume", "--teammate-mode", "process"])).code).toBe(0);
  await inState("dev", "paused");
  expect((await member("dev"))?.tokens).toMatchObject(usage);
  expect((await teams(["budget", "dev", "--max-tokens", "1000"])).out).toContain("100 of 1,000 tokens");
  await inState("dev", "idle");
  expect((await teams(["logs", "dev"])).out).toContain("done");
  await teams(["kill", "crew", "--force"]);
});
