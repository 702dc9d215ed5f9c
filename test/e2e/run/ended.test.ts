import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

interface Ended {
  readonly name: string;
  readonly state: string;
  readonly sessionId: string;
  readonly sessions: readonly { readonly agent: string; readonly sessionId: string }[];
}

const MODE = ["--permission-mode", "bypassPermissions", "--no-sidebar", "--teammate-mode", "process"];
const AGENTS = {
  "team-lead": [
    {
      on: { contains: "keep" },
      tools: [{ name: "TaskCreate", input: { subject: "open", description: "d" } }],
    },
    { on: { contains: "count" }, tools: [{ name: "Agent", input: { name: "ann", prompt: "count" } }] },
    { on: { contains: "ann is idle" }, say: "Ann counted three." },
    { say: "That is all.", repeat: true },
  ],
  ann: [{ say: "I count three." }],
};

function place() {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: AGENTS }));
  const teams = teamsIn(t.env, t.home);
  const ended = async () => (await teams(["ls", "--ended", "--json"])).json<{ teams: Ended[] }>().teams;
  const words = (team: string) => ["run", "--team", team, "--playbook", "play.json", ...MODE];
  return { t, teams, ended, words };
}

it("a deleted team › stays listed, and the printed command shows its conversations", async () => {
  const { t, teams, ended, words } = place();
  const person = personInside(t, [...words("crew"), "--once", "count"]);
  expect(await person.code()).toBe(0);
  expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
  const [command = ""] = /teams logs --session \S+/.exec(person.screen()) ?? [];
  const lead = await teams(command.split(" ").slice(1));
  expect([lead.code, lead.out]).toEqual([0, expect.stringContaining("Ann counted three.")]);
  const [team, ...others] = await ended();
  expect(others).toEqual([]);
  expect(team).toMatchObject({
    name: "crew",
    state: "deleted",
    outcome: "completed",
    result: "Ann counted three.",
    tokens: expect.any(Number),
    sessions: [{ agent: "team-lead", sessionId: team?.sessionId }, { agent: "ann" }],
  });
  const ann = await teams(["logs", "--session", team?.sessions[1]?.sessionId.slice(0, 8) ?? ""]);
  expect(ann.out).toContain("I count three.");
  const shown = (await teams(["ls", "--ended"])).out;
  expect(shown).toMatch(
    /crew +\d{4}-\d\d-\d\d \d\d:\d\d +deleted +(\d+ min )?\d+ s +[0-9a-f]{8} +Ann counted three\./,
  );
  expect(statSync(join(t.root, "teams-ended.json")).mode & 0o777).toBe(0o600);
  expect(readdirSync(t.root).filter((name) => name.startsWith("teams-ended"))).toEqual(["teams-ended.json"]);
});

it("a kept team › is listed as kept, then as deleted after teams delete, but not while it runs again", async () => {
  const { t, teams, ended, words } = place();
  expect((await teams([...words("crew"), "keep"])).code).toBe(0);
  const [kept] = await ended();
  expect(kept).toMatchObject({ name: "crew", state: "kept", outcome: "completed" });
  const person = personInside(t, ["run", "--resume", "--team", "crew", "--no-sidebar"]);
  await person.sees("type a line");
  expect(await ended()).toEqual([]);
  // The lead answers the notice of the restart first: an early /exit would make half an answer the result.
  await person.sees(/That is all\.[\s\S]*That is all\./);
  person.type("/exit", "Enter");
  expect(await person.code()).toBe(0);
  expect((await teams(["delete", "crew"])).code).toBe(0);
  const after = await ended();
  expect(after).toMatchObject([
    { name: "crew", state: "deleted", outcome: "completed", result: "That is all." },
  ]);
  expect(after[0]?.sessionId).toBe(kept?.sessionId);
});

it("logs --session › refuses an unknown, an ambiguous and a hostile id, and an id together with an agent's name", async () => {
  const { t, teams, words } = place();
  expect((await teams([...words("crew"), "keep"])).code).toBe(0);
  const refused = async (...more: string[]) => {
    const { code, error } = await teams(["logs", "--json", ...more]);
    return [code, error().message];
  };
  expect(await refused("--session", "nothing-here")).toEqual([3, 'There is no conversation "nothing-here".']);
  for (const id of ["", "../teams/crew/config", "a"]) expect((await refused("--session", id))[0]).toBe(3);
  for (const name of ["abcd-1", "abcd-2"]) writeFileSync(join(t.root, "teams-sessions", `${name}.jsonl`), "");
  expect(await refused("--session", "abcd")).toEqual([2, "2 conversations begin with abcd."]);
  expect((await refused("team-lead", "--session", "abcd-1"))[0]).toBe(2);
  expect((await refused())[0]).toBe(2);
});
