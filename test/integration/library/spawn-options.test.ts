import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Team } from "../../../src/library/team.ts";
import { createTeam } from "../../../src/library/teams.ts";
import type { Env } from "../../../src/os/env.ts";
import { standIn } from "../../support/cli/stand-in.ts";
import { git } from "../../support/files/git.ts";
import { TEAMS } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const acp = scriptFile("cli/acp");

/** Creates a team that is deleted after the test, and the playbook of its teammates. */
async function teamIn(cwd: string, env: Env): Promise<{ readonly team: Team; readonly model: string }> {
  const playbook = join(cwd, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents: { "*": [{ say: "I begin." }] } }));
  const team = await createTeam("crew", { cwd, env, program: TEAMS });
  onTestFinished(async () => void (await team.delete({ force: true })));
  return { team, model: `scripted:${playbook}` };
}

describe("a teammate that the library starts", () => {
  it("is a third-party CLI with an effort", async () => {
    const t = privateTmux();
    const effort = { effortArgs: ["--effort", "{effort}"], efforts: ["low", "high"] };
    const adapter = { channel: "acp", modes: { default: "ask" }, ...effort } as const;
    const { home, ...fake } = standIn(t, "fake", acp(), adapter);
    writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: { adapters: { fake } } }));
    const { team } = await teamIn(t.home, t.env);
    const start = { cli: "fake", effort: "high", teammateMode: "process" } as const;
    const ada = await team.spawn("ada", { ...start, prompt: "say: hello from it" });
    await eventually("its message", async () =>
      (await team.inbox({ from: "ada" })).some(({ text }) => text.includes("hello from it")),
    );
    expect(await ada.status()).toMatchObject({ model: "fake", backend: "process" });
    expect(readFileSync(join(home, "log"), "utf8")).toContain('"args":["--effort","high"]');
  });

  it.each([
    { placement: "here", place: /^work mine 2$/ },
    { placement: "window", place: /^work ada@crew 1$/ },
    { placement: "session", place: /^teams-crew \S+ 1$/ },
  ] as const)("has its pane where the placement $placement says", async ({ placement, place }) => {
    const t = privateTmux();
    const { pane } = t.session();
    const { team, model } = await teamIn(t.home, t.inside(pane));
    const ada = await team.spawn("ada", { model, teammateMode: "tmux", placement });
    const { paneId } = await ada.status();
    const format = "#{session_name} #{window_name} #{window_panes}";
    expect(t.tmux("display-message", "-p", "-t", paneId ?? "", format)).toMatch(place);
  });

  it("works on the named branch, with the uncommitted changes of the caller", async () => {
    const t = privateTmux();
    const repo = join(t.home, "repo");
    mkdirSync(repo);
    const file = join(repo, "notes.txt");
    writeFileSync(file, "committed\n");
    git(repo, "init", "-q");
    git(repo, "add", "notes.txt");
    git(repo, "commit", "-q", "-m", "one");
    writeFileSync(file, "changed\n");
    const { team, model } = await teamIn(repo, t.env);
    const worktree = { branch: "docs/notes", withChanges: true };
    const ada = await team.spawn("ada", { model, teammateMode: "process", worktree });
    const directory = (await ada.status()).worktree ?? "";
    expect(git(directory, "branch", "--show-current")).toBe("docs/notes");
    expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("changed\n");
  });
});
