import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readChangedWork } from "../../../../src/operations/landing/changed-work.ts";
import { readDiff, readDiffs } from "../../../../src/operations/landing/read-diffs.ts";
import { sendComments } from "../../../../src/operations/landing/review-comments.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { addMembers, moveToFormer } from "../../../../src/team/members/members.ts";
import { git } from "../../../support/files/git.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { landingTeam } from "../../../support/team/landing-team.ts";

test("readDiff › shows committed, changed, untracked, renamed and binary files, and leaves the index alone", async () => {
  const { ctx, worktree, commit, repository } = await landingTeam(["dev"]);
  const base = git(repository, "rev-parse", "HEAD");
  const top = worktree("dev");
  commit(top, "done.txt", "a\nb\n");
  git(top, "mv", "shared.txt", "moved ü.txt");
  writeFileSync(join(top, "done.txt"), "a\nB\n");
  writeFileSync(join(top, "new\tname\n.txt"), "new\n");
  writeFileSync(join(top, "image"), Buffer.from([0, 1, 2]));
  git(top, "init", "--quiet", "nested");
  const index = readFileSync(join(git(top, "rev-parse", "--absolute-git-dir"), "index"));
  // The branch to compare with gets another commit.
  commit(repository, "other.txt", "elsewhere\n");
  const diff = await readDiff(ctx, "dev");
  expect(diff).toMatchObject({ agent: "dev", sharedWith: [], directory: top, base });
  expect(diff.files).toEqual([
    { path: "done.txt", added: 2, removed: 0, status: "added" },
    { path: "image", added: null, removed: null, status: "added" },
    { path: "moved ü.txt", from: "shared.txt", added: 0, removed: 0, status: "renamed" },
    { path: "new\tname\n.txt", added: 1, removed: 0, status: "added" },
  ]);
  expect(diff.patch).toContain("+B\n");
  expect(diff.patch).not.toContain("other.txt");
  expect(readFileSync(join(git(top, "rev-parse", "--absolute-git-dir"), "index"))).toEqual(index);
});

test("readDiff › does not run the programs that the repository's settings name", async () => {
  const { ctx, worktree, repository } = await landingTeam(["dev"]);
  const top = worktree("dev");
  const seen = realpathSync(temporaryDirectory());
  const keys = ["core.fsmonitor", "diff.evil.command", "diff.evil.textconv", "diff.external"];
  for (const key of keys) git(repository, "config", key, `touch ${join(seen, key)}; true`);
  writeFileSync(join(top, ".gitattributes"), "*.txt diff=evil\n");
  writeFileSync(join(top, "shared.txt"), "other\n");
  const { files } = await readDiff(ctx, "dev");
  expect(files.map(({ path }) => path)).toEqual([".gitattributes", "shared.txt"]);
  expect(readdirSync(seen)).toEqual([]);
  // A person's git runs each of them.
  git(top, "diff");
  git(top, "diff", "--no-ext-diff");
  git(repository, "config", "--unset", "diff.evil.command");
  git(top, "diff");
  expect(readdirSync(seen).sort()).toEqual(keys);
});

test("readDiffs › shows each directory with changes once, also that of an agent that left; a teammate gets its own", async () => {
  const { ref, ctx, worktree, repository } = await landingTeam(["dev", "idle", "gone"]);
  await addMembers(
    ref,
    ["ann", "ben"].map((name) => ({ name, cwd: join(repository, "sub") })),
  );
  mkdirSync(join(repository, "sub"));
  writeFileSync(join(repository, "sub", "shared.txt"), "ours\n");
  for (const name of ["dev", "gone"]) writeFileSync(join(worktree(name), "work.txt"), `${name}\n`);
  await updateTeam(ref, (config) => moveToFormer(config, "gone", "shutdown", 5));
  const { diffs, problems } = await readDiffs(ctx);
  expect(problems).toEqual([]);
  expect(diffs.map(({ agent, sharedWith, files }) => [agent, sharedWith, files.map((f) => f.path)])).toEqual([
    ["dev", [], ["work.txt"]],
    ["ann", ["ben"], ["sub/shared.txt"]],
    ["gone", [], ["work.txt"]],
  ]);
  const own = await readDiffs({ ...ctx, actor: "dev" });
  expect(own.diffs.map(({ agent }) => agent)).toEqual(["dev"]);
  expect((await readDiff(ctx, "gone")).patch).toContain("+gone\n");
});

// The file systems of macOS refuse such names.
test.skipIf(platform() === "darwin")(
  "readChangedWork › keeps a changed file whose name is not UTF-8, although its time cannot be read",
  async () => {
    const { ref, ctx, repository } = await landingTeam([]);
    await addMembers(ref, [{ name: "ann", cwd: repository }]);
    const named = Buffer.concat([Buffer.from(join(repository, "caf")), Buffer.from([0xe9])]);
    writeFileSync(named, "one\n");
    git(repository, "add", "--all");
    git(repository, "commit", "--quiet", "--message", "named");
    writeFileSync(named, "two\n");
    writeFileSync(join(repository, "shared.txt"), "of the person\n");
    const { changes } = await readChangedWork(ctx, { at: Date.now() + 3_600_000, heads: new Map() });
    expect(changes.flatMap(({ files }) => files.map(({ path }) => path))).toEqual(["$'caf\\xe9'"]);
  },
);

test("readDiff › says why there is no diff when the directory is in no repository", async () => {
  const { ref, ctx } = await landingTeam([]);
  await addMembers(ref, [{ name: "ann", cwd: "/" }]);
  await expect(readDiff(ctx, "ann")).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("its directory is not in a git repository"),
  });
});

test("sendComments › sends one message with each place, its lines and the text", async () => {
  const { ref, ctx, worktree } = await landingTeam(["dev"]);
  writeFileSync(join(worktree("dev"), "new.txt"), "first\nsecond\n");
  await sendComments(ctx, "dev", [
    { path: "shared.txt", line: 2, lastLine: 3, text: "Swap these." },
    { path: "new.txt", line: 1, text: "Why?" },
  ]);
  expect((await unreadMessages(ref, "dev")).map(({ message: { from, text } }) => [from, text])).toEqual([
    [
      "team-lead",
      `2 review comments on your changes in ${worktree("dev")}.\n\nshared.txt:2-3\n> two\n> three\n\nSwap these.\n\nnew.txt:1\n> first\n\nWhy?`,
    ],
  ]);
});

test.for([
  ["shared.txt", 9, "has 3 lines"],
  ["missing.txt", 1, "not a text file"],
  ["../../shared.txt", 1, "not a text file"],
  ["link.txt", 1, "not a text file"],
  ["pipe", 1, "not a text file"],
] as const)(
  "sendComments › sends nothing when a place does not exist: %s:%i",
  async ([path, line, reason]) => {
    const { ref, ctx, worktree, repository } = await landingTeam(["dev"]);
    symlinkSync(join(repository, "shared.txt"), join(worktree("dev"), "link.txt"));
    symlinkSync("/dev/null", join(worktree("dev"), "pipe"));
    const comments = [
      { path: "shared.txt", line: 1, text: "fine" },
      { path, line, text: "x", at: "line 2" },
    ];
    const refused = expect.objectContaining({
      code: "INVALID_INPUT",
      message: expect.stringMatching(new RegExp(`line 2 .*${reason}.*nothing was sent`)),
    });
    await expect(sendComments(ctx, "dev", comments)).rejects.toThrow(refused);
    expect(await unreadMessages(ref, "dev")).toEqual([]);
  },
);
