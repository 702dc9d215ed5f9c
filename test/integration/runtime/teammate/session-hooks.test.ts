import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mayRunSessionHooks } from "../../../../src/runtime/teammate/session-hooks.ts";
import { git } from "../../../support/files/git.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const HOOK = JSON.stringify({ hooks: { SessionStart: [] } });

/** A repository with a linked worktree, and the directory of teams. */
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

test("mayRunSessionHooks › finds a hook in the settings of user, project and main worktree", async () => {
  const { root, main, linked } = places();
  expect([await mayRunSessionHooks(root, main), await mayRunSessionHooks(root, linked)]).toEqual([
    false,
    false,
  ]);
  writeFileSync(join(main, ".claude", "settings.local.json"), HOOK);
  expect([await mayRunSessionHooks(root, main), await mayRunSessionHooks(root, linked)]).toEqual([
    true,
    true,
  ]);
  writeFileSync(join(root, "settings.json"), HOOK);
  expect(await mayRunSessionHooks(root, temporaryDirectory())).toBe(true);
});

test("mayRunSessionHooks › is false for other settings, and for links to nowhere, to themselves and to endless files", async () => {
  const { root, main } = places();
  const file = join(main, ".claude", "settings.json");
  writeFileSync(join(root, "settings.json"), JSON.stringify({ hooks: { Stop: [] } }));
  expect(await mayRunSessionHooks(root, main)).toBe(false);
  symlinkSync("settings.json", file);
  symlinkSync("/dev/zero", join(main, ".claude", "settings.local.json"));
  expect(await mayRunSessionHooks(root, main)).toBe(false);
});
