import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mayHaveHooks } from "../../../src/settings/hook-mentions.ts";
import { git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const HOOK = JSON.stringify({ hooks: { SessionStart: [] } });

const mayHave = (root: string, cwd: string) => mayHaveHooks(root, cwd, ["SessionStart"]);

/** Creates a repository with a linked worktree, and a root for teams. */
function places() {
  const [base, root] = [temporaryDirectory(), temporaryDirectory()];
  const main = join(base, "main");
  mkdirSync(join(main, ".claude"), { recursive: true });
  git(main, "init", "-q");
  git(main, "commit", "-q", "--allow-empty", "-m", "first");
  const linked = join(base, "linked");
  git(main, "worktree", "add", "-q", linked);
  return { root, main, linked };
}

test("mayHaveHooks › finds a hook in the settings of user, project and main worktree", async () => {
  const { root, main, linked } = places();
  expect([await mayHave(root, main), await mayHave(root, linked)]).toEqual([false, false]);
  writeFileSync(join(main, ".claude", "settings.local.json"), HOOK);
  expect([await mayHave(root, main), await mayHave(root, linked)]).toEqual([true, true]);
  writeFileSync(join(root, "settings.json"), HOOK);
  expect(await mayHave(root, temporaryDirectory())).toBe(true);
});

test("mayHaveHooks › is false for settings with other hooks, and for a link to nowhere", async () => {
  const { root, main } = places();
  writeFileSync(join(root, "settings.json"), JSON.stringify({ hooks: { Stop: [] } }));
  symlinkSync("nowhere", join(main, ".claude", "settings.json"));
  expect(await mayHave(root, main)).toBe(false);
  expect(await mayHaveHooks(root, main, ["TaskCreated", "Stop"])).toBe(true);
});

test.each([
  ["a link to itself", "settings.json"],
  ["an endless file", "/dev/zero"],
])("mayHaveHooks › is true for %s: reading the settings reports it", async (_, target) => {
  const { root, main } = places();
  symlinkSync(target, join(main, ".claude", "settings.json"));
  expect(await mayHave(root, main)).toBe(true);
});
