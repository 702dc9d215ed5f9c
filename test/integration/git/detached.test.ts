import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fastForward } from "../../../src/git/move-branch.ts";
import { abortRebase, rebaseOnto } from "../../../src/git/rebase.ts";
import { discardWorktree, removeWorktree } from "../../../src/git/remove-worktree.ts";
import { addWorktree, rollBackWorktree, type Worktree } from "../../../src/git/worktree.ts";
import { GIT_IDENTITY } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { commitFile, createRepository } from "../../support/team/landing-team.ts";

/** Prints the group of the process whose pid follows. */
const GROUP = "ps -o pgid= -p";

/** Returns an environment whose git records its process group and its arguments, and a function that returns the records. */
function recordedGit() {
  const bin = realpathSync(temporaryDirectory());
  const log = join(bin, "log");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\necho $(${GROUP} $$) "$*" >> '${log}'\nexec ${real} "$@"\n`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  const records = (): readonly { readonly group: string; readonly words: string }[] =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => ({ group: line.split(" ")[0] ?? "", words: line.slice(line.indexOf(" ") + 1) }));
  return { env: { ...process.env, ...GIT_IDENTITY, PATH: `${bin}:${process.env.PATH}` }, records };
}

test("git › is out of reach of a Ctrl-C while it changes a whole directory", async () => {
  const { env, records } = recordedGit();
  const repository = createRepository(realpathSync(temporaryDirectory()));
  const add = (name: string): Promise<Worktree> =>
    addWorktree({ from: repository, name, branch: name, branchIsGiven: false, env });
  const landed = await add("landed");
  await fastForward(repository, commitFile(landed.path, "new.txt", "new\n"), env);
  await removeWorktree(landed.path, landed.branch, env);
  await discardWorktree((await add("discarded")).path, env);
  await rollBackWorktree(await add("failed"), env);
  const { path } = await add("conflicting");
  commitFile(path, "shared.txt", "theirs\n");
  await rebaseOnto(path, commitFile(repository, "shared.txt", "ours\n"), env);
  await abortRebase(path, env);
  const own = execFileSync("sh", ["-c", `${GROUP} ${process.pid}`], { encoding: "utf8" }).trim();
  const whole = records().filter(({ words }) => /merge --ff-only|worktree remove|rebase --abort/.test(words));
  expect(whole).toHaveLength(5);
  expect(whole.filter(({ group }) => group === own)).toEqual([]);
  expect(records().find(({ words }) => words.includes("worktree add"))?.group).toBe(own);
});
