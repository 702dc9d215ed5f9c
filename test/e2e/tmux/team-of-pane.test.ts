import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

/** Creates two teams whose members have panes: ada and cy in team one, ben and cy in team two. */
async function twoTeams(): Promise<{
  readonly t: PrivateTmux;
  readonly work: string;
  readonly paneOf: (address: string) => string;
  readonly teams: ReturnType<typeof teamsIn>;
}> {
  const t = privateTmux();
  const { pane: work } = t.session();
  const teams = teamsIn(t.env, t.home);
  const turns = [{ say: "It is done.", repeat: true }];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "*": turns } }));
  for (const [team, ...members] of [
    ["one", "ada", "cy"],
    ["two", "ben", "cy"],
  ] as const) {
    await teams(["create", team]);
    for (const name of members) {
      const words = ["spawn", name, "--team", team, "--model", "scripted:play.json"];
      const spawned = await teams(words, { env: t.inside(work) });
      expect([spawned.err, spawned.code]).toEqual(["", 0]);
    }
  }
  const paneOf = (address: string): string =>
    t.tmux("list-panes", "-a", "-f", `#{==:#{@teams_agent_id},${address}}`, "-F", "#{pane_id}");
  return { t, work, paneOf, teams };
}

it("a command without --team › acts on the team of the pane in which it runs", async () => {
  const { t, work, paneOf, teams } = await twoTeams();
  const teamIn = async (pane: string, env: Record<string, string> = {}): Promise<string> => {
    const ended = await teams(["status", "--json"], { env: { ...t.inside(pane), ...env } });
    return ended.code === 0 ? ended.json<{ team: string }>().team : ended.error().message;
  };
  // The pane of a member decides, even against the variable of the shell.
  expect(await teamIn(paneOf("ada@one"))).toBe("one");
  expect(await teamIn(paneOf("ben@two"))).toBe("two");
  expect(await teamIn(paneOf("ben@two"), { TEAMS_TEAM: "one" })).toBe("two");
  // A pane that the user opened in a window of the team.
  const split = t.tmux(
    "split-window",
    "-d",
    "-t",
    paneOf("ben@two"),
    "-P",
    "-F",
    "#{pane_id}",
    "--",
    "env",
    "cat",
  );
  expect(await teamIn(split)).toBe("two");
  // The user's own pane belongs to no team until a team opens a sidebar next to it.
  expect(await teamIn(work)).toBe("There are 2 teams, and none was selected.");
  expect(await teamIn(work, { TEAMS_TEAM: "one" })).toBe("one");
  const opened = await teams(["sidebar", "two", "--split"], { env: t.inside(work) });
  expect([opened.err, opened.code]).toEqual(["", 0]);
  expect(await teamIn(work)).toBe("two");
  // Only the other team has a member of this name.
  const sent = await teams(["send", "ben", "hello"], { env: t.inside(paneOf("ada@one")) });
  expect([sent.err, sent.code]).toEqual(["", 0]);
  const attached = await teams(["attach", "ben"], { env: t.inside(paneOf("ada@one")) });
  expect([attached.code, attached.out]).toEqual([0, expect.stringContaining(`.${paneOf("ben@two")}'`)]);
  const own = await teams(["send", "cy", "hello", "--json"], { env: t.inside(paneOf("ada@one")) });
  expect(own.code).toBe(0);
  expect((await teams(["inbox", "cy@one"])).out).toContain("hello");
  for (const team of ["one", "two"]) await teams(["kill", team, "--force", "--purge"]);
});

it("a command without --team › lets a person at a terminal pick the team, and refuses elsewhere", async () => {
  const { t, work, teams } = await twoTeams();
  const refused = await teams(["attach", "cy", "--json"], { env: t.inside(work) });
  expect(refused.error()).toMatchObject({
    code: "INVALID_INPUT",
    hint: "Add --team <name> or set TEAMS_TEAM: one, two",
    details: { teams: ["one", "two"] },
  });
  const size = { width: 40, height: 10 };
  const env = { ...t.env, NO_COLOR: "1" };
  const person = personInside(t, ["status"], { env, size, session: "narrow" });
  await person.sees("> 1 one  2 teammates");
  person.type("j");
  await person.sees("> 2 two");
  person.type("Enter");
  await person.sees("two - led by hand");
  expect(await person.code()).toBe(0);
  expect(person.screen()).not.toContain("Which team?");

  const other = personInside(t, ["send", "cy", "hi there"], { env, session: "other" });
  await other.sees("Which team?");
  other.type("1");
  await other.sees("Sent to cy.");
  await eventually("the message", async () => (await teams(["inbox", "cy@one"])).out.includes("hi there"));
  expect((await teams(["inbox", "cy@two"])).out).not.toContain("hi there");

  const leaver = personInside(t, ["status"], { env, session: "leaver" });
  await leaver.sees("Which team?");
  leaver.type("Escape");
  await leaver.sees("No team was selected; nothing was done.");
  expect(await leaver.code()).toBe(130);
  const json = personInside(t, ["status", "--json"], { env, session: "json" });
  await json.sees("none was selected");
  expect(await json.code()).toBe(2);
  for (const team of ["one", "two"]) await teams(["kill", team, "--force", "--purge"]);
});
