import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTeam } from "../../../src/library/teams.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { git } from "../../support/files/git.ts";
import { codeOf, libraryTeam } from "../../support/library/library-team.ts";

describe("settings in the library", () => {
  it("provide the user's prices, as for the command line", async () => {
    const { team, ref, options } = await libraryTeam();
    await addMembers(ref, [{ name: "ada", cwd: options.cwd, model: "mystery-1" }]);
    const ada = team.teammate("ada");
    expect(await codeOf(ada.setBudget({ maxCostUsd: 1 }))).toBe("INVALID_MODEL");
    const settings = { teams: { prices: { "mystery-1": { input: 1, output: 2 } } } };
    writeFileSync(join(ref.home.root, "settings.json"), JSON.stringify(settings));
    expect(await ada.setBudget({ maxCostUsd: 1 })).toMatchObject({ limits: { maxCostUsd: 1 } });
  });

  it("provide a new teammate with the user's agent types and the directory of worktrees", async () => {
    const { team, ref, options } = await libraryTeam();
    const { cwd } = options;
    const { root } = ref.home;
    mkdirSync(join(root, "agents"), { recursive: true });
    writeFileSync(join(root, "agents", "scribe.md"), "---\nname: scribe\n---\nKeep the diary.");
    writeFileSync(join(root, "settings.json"), JSON.stringify({ teams: { worktreeDir: "trees" } }));
    const playbook = join(cwd, "play.json");
    writeFileSync(playbook, JSON.stringify({ version: 1, agents: { ada: [{ say: "I write." }] } }));
    git(cwd, "init", "-q");
    git(cwd, "commit", "-q", "--allow-empty", "-m", "one");
    const start = { model: `scripted:${playbook}`, teammateMode: "process" } as const;
    expect(await codeOf(team.spawn("ada", { ...start, agentType: "scrib" }))).toBe("INVALID_TYPE");
    const ada = await team.spawn("ada", { ...start, agentType: "scribe", worktree: true });
    onTestFinished(async () => void (await team.delete({ force: true })));
    expect(await ada.status()).toMatchObject({
      agentType: "scribe",
      worktree: expect.stringContaining(join(cwd, "trees")),
    });
  });

  it("of a directory without trust are ignored, and named in a note", async () => {
    const { options } = await libraryTeam();
    const cwd = join(options.cwd, "project");
    mkdirSync(join(cwd, ".claude"), { recursive: true });
    const settings = { permissions: { allow: ["Bash(rm:*)"] } };
    writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify(settings));
    const notes: string[] = [];
    const team = await openTeam("crew", { ...options, cwd, onNote: (text) => notes.push(text) });
    await team.resume();
    expect(notes).toContainEqual(expect.stringContaining("so ignored: "));
  });
});
