import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TeamError } from "../../../../src/errors.ts";
import type { OperationContext } from "../../../../src/operations/context.ts";
import { deleteTeam } from "../../../../src/operations/ending/delete-team.ts";
import { killTeammates } from "../../../../src/operations/ending/kill.ts";
import { spawnTeammates } from "../../../../src/operations/spawn/spawn.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { createWorktree } from "../../../../src/operations/worktrees/create-worktree.ts";
import { setDiscard } from "../../../../src/operations/worktrees/discard-worktree.ts";
import { cleanUpWorktree } from "../../../../src/operations/worktrees/remove-worktree.ts";
import { removeTree } from "../../../../src/os/files/fs.ts";
import { bootId } from "../../../../src/os/process/identity.ts";
import type { Ending } from "../../../../src/schema/ending.ts";
import { worktreeOf } from "../../../../src/schema/member-metadata.ts";
import { importedConfig } from "../../../../src/team/archive/rewrite-imported.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { addMembers, findMember, moveToFormer, patchMember } from "../../../../src/team/members/members.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { keptLines } from "../../../../src/terminal/worktree-text.ts";
import { GIT_IDENTITY, git } from "../../../support/files/git.ts";
import { pathWithOldGit } from "../../../support/files/old-git.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Creates a team whose member dev has a worktree and no process. */
async function withWorktree() {
  const repository = realpathSync(temporaryDirectory());
  git(repository, "init", "--quiet", "--initial-branch=main");
  git(repository, "commit", "--quiet", "--allow-empty", "--message", "first");
  const ref = await testTeam(["dev"]);
  const ctx = contextOf(ref, undefined, { env: GIT_IDENTITY, cwd: repository });
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const { member: dev } = await createWorktree(ctx, member, {}, {});
  const worktree = worktreeOf(dev);
  if (worktree === undefined) throw new Error("dev has no worktree.");
  const branches = (): string[] => git(repository, "branch", "--format=%(refname:short)").split("\n");
  return { ref, ctx, repository, worktree, branches };
}

test("worktree › is kept for a member out of reach of signals, even if the team is deleted by force (S77)", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  const elsewhere = { ...deadProcess(), pidSpace: "container#pid:[1]", bootId: bootId() };
  writeStatus(ref, "dev", statusOf({ process: elsewhere, instance: "i" }));
  const kept = "processes that were started in it may still run";
  const { path, branch } = worktree;
  expect(await deleteTeam(ctx, { force: true })).toEqual([{ path, branch, kept }]);
  expect(existsSync(path)).toBe(true);
});

test("worktree › is removed by the process that takes over a dead process's ending", async () => {
  const { ref, ctx, worktree, branches } = await withWorktree();
  const by = deadProcess();
  const left = {
    id: "left",
    name: "dev",
    how: "shutdown" as const,
    news: "dev has shut down.",
    tasks: [] as string[],
  };
  const ending: Ending = { ...left, worktree, by, at: Date.now(), tries: 1 };
  await updateTeam(ref, (config) => {
    const next = moveToFormer(config, "dev", "shutdown", 5);
    return next && { ...next, metadata: { _endings: [ending] } };
  });
  await reconcile(ctx);
  expect([existsSync(worktree.path), branches()]).toEqual([false, ["main"]]);
});

test("discarding a worktree › applies only to the kill that asked for it, even if that was killed or refused", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  writeFileSync(join(worktree.path, "new.txt"), "new\n");
  const discard = (): unknown => worktreeOf(findMember(readTeam(ref), "dev"))?.discard;
  writeStatus(ref, "dev", statusOf({ instance: "i" }));
  const interrupted = { discardWorktrees: true, signal: AbortSignal.abort() };
  await expect(killTeammates(ctx, ["dev"], interrupted)).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(discard()).toBeUndefined();
  writeStatus(ref, "dev", statusOf({ process: deadProcess(), instance: "i" }));
  await setDiscard(ctx, ["dev"], deadProcess());
  expect(discard()).toBeDefined();
  const [killed] = await killTeammates(ctx, ["dev"]);
  expect(killed?.worktree?.kept).toBe("1 untracked file");
  expect(existsSync(worktree.path)).toBe(true);
  expect(readTeam(ref).former?.[0]?.worktree).toEqual(worktree);
});

test("discarding a worktree › does not apply to a deletion of the team after that kill was killed", async () => {
  const { ctx, worktree } = await withWorktree();
  const { path, branch } = worktree;
  writeFileSync(join(path, "new.txt"), "new\n");
  await setDiscard(ctx, ["dev"], deadProcess());
  expect(await deleteTeam(ctx)).toEqual([{ path, branch, kept: "1 untracked file" }]);
  expect(existsSync(join(path, "new.txt"))).toBe(true);
});

test("worktree › that another program recorded is never removed", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  await patchMember(ref, "dev", { metadata: {} });
  expect(await killTeammates(ctx, ["dev"], { discardWorktrees: true })).toEqual([
    { name: "dev", outcome: "gone", left: [] },
  ]);
  expect(existsSync(worktree.path)).toBe(true);
  expect(worktreeOf({ worktreePath: "/else", metadata: { _worktree: worktree } })).toBeUndefined();
  expect(
    worktreeOf({ worktreePath: "../x", metadata: { _worktree: { ...worktree, path: "../x" } } }),
  ).toBeUndefined();
});

test("worktree › whose path now contains other work survives the deletion of the team", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  writeFileSync(join(worktree.path, "new.txt"), "new\n");
  await killTeammates(ctx, ["dev"]);
  git(worktree.path, "clean", "--quiet", "--force");
  git(worktree.path, "checkout", "--quiet", "-b", "mine");
  const { path, branch } = worktree;
  const kept = `${branch} is no longer checked out in it`;
  expect(await deleteTeam(ctx)).toEqual([{ path, branch, kept }]);
  expect(existsSync(ref.paths.dir)).toBe(false);
  expect(existsSync(path)).toBe(true);
});

test("worktree › is not part of an imported copy, which would remove it from the original", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  const copy = {
    team: "copy",
    displayName: undefined,
    here: "/",
    leadSessionId: "s",
    endOf: () => undefined,
    sessionOf: (id: string) => id,
  };
  writeFileSync(join(worktree.path, "new.txt"), "new\n");
  const texts = [JSON.stringify(importedConfig(readTeam(ref), copy))];
  await killTeammates(ctx, ["dev"]);
  expect(readTeam(ref).former?.[0]?.worktree).toEqual(worktree);
  texts.push(JSON.stringify(importedConfig(readTeam(ref), copy)));
  for (const text of texts) expect(text).not.toMatch(/worktreePath|_worktree|"worktree"/);
});

test("worktree › is removed with the team even if another, dead member worked in it", async () => {
  const { ref, ctx, worktree, branches } = await withWorktree();
  await addMembers(ref, [{ name: "guest", cwd: worktree.path }]);
  const [removed] = await deleteTeam(ctx);
  expect([removed?.kept, existsSync(worktree.path), branches()]).toEqual([null, false, ["main"]]);
});

test("worktree › is kept while another member works in it by another path", async () => {
  const { ref, ctx, worktree } = await withWorktree();
  const link = join(temporaryDirectory(), "link");
  symlinkSync(worktree.path, link);
  await addMembers(ref, [{ name: "guest", cwd: link }]);
  expect(await killTeammates(ctx, ["dev"])).toMatchObject([{ worktree: { kept: "guest works in it" } }]);
  expect(existsSync(worktree.path)).toBe(true);
});

test("worktree › that was removed by hand does not stop a kill", async () => {
  const { ref, ctx, repository, worktree } = await withWorktree();
  git(repository, "worktree", "remove", worktree.path);
  const { path, branch } = worktree;
  await addMembers(ref, [{ name: "guest", cwd: path }]);
  expect(await killTeammates(ctx, ["dev"])).toMatchObject([{ worktree: { path, branch, kept: null } }]);
  expect(readTeam(ref).members).toHaveLength(2);
});

test("worktree › is rolled back with the member if the start fails", async () => {
  const { ref, ctx, repository, branches } = await withWorktree();
  const spawn = (): Promise<unknown> => Promise.reject(new Error("no such server"));
  const backend = { ...ctx.backends.of("process"), spawn };
  const backends = { of: ctx.backends.of, choose: async () => ({ backend: backend as never, why: "" }) };
  const inputs = [{ name: "ada", worktree: {} }, { name: "ben" }];
  await expect(spawnTeammates({ ...ctx, backends }, inputs)).rejects.toThrow("no such server");
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
  expect(branches()).toEqual(["main", "teams/crew/dev"]);
  mkdirSync(join(repository, "sub"));
  const refused = { ...ctx, backends, cwd: join(repository, "sub") };
  await expect(spawnTeammates(refused, [{ name: "cem", worktree: { branch: "-x" } }])).rejects.toMatchObject({
    code: "SPAWN_FAILED",
  });
});

test("worktree › that git cannot remove after a failed start is named in the error", async () => {
  const { ref, ctx, repository } = await withWorktree();
  const spawn = (): Promise<never> => Promise.reject(new TeamError("TMUX_ERROR", "no such server."));
  const backend = { ...ctx.backends.of("process"), spawn };
  const backends = { of: ctx.backends.of, choose: async () => ({ backend: backend as never, why: "" }) };
  const worktrees = { setup: "git worktree lock ." };
  const path = join(repository, ".worktrees/crew-ada");
  const start = spawnTeammates({ ...ctx, backends }, [{ name: "ada", worktree: {} }], { worktrees });
  await expect(start).rejects.toMatchObject({
    code: "TMUX_ERROR",
    message: expect.stringContaining(`no such server.\n${path} stays: `),
  });
  expect(existsSync(path)).toBe(true);
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
});

test("worktree › is not created for a member whose name has a new holder", async () => {
  const { ref, ctx, repository, worktree, branches } = await withWorktree();
  const removed = { ...findMember(readTeam(ref), "dev"), cwd: repository, joinedAt: 5 };
  await expect(createWorktree(ctx, removed, {}, {})).rejects.toMatchObject({
    code: "SPAWN_FAILED",
    message: "another command removed it from the team meanwhile.",
  });
  expect(worktreeOf(findMember(readTeam(ref), "dev"))).toEqual(worktree);
  expect(branches()).toEqual(["main", "teams/crew/dev"]);
});

/** Spawns ada, up to the setup of its worktree, with a backend that starts nothing. @returns also a function that ends the setup */
async function setUpAda(ctx: OperationContext) {
  const begun = join(realpathSync(temporaryDirectory()), "begun");
  // It also ends when the test removes the directory.
  const setup = `touch product '${begun}'; while test -e '${begun}'; do sleep 0.05; done`;
  const spawn = (): Promise<never> => expect.fail("A process was started.");
  const backend = { ...ctx.backends.of("process"), spawn };
  const backends = { of: ctx.backends.of, choose: async () => ({ backend: backend as never, why: "" }) };
  const input = { name: "ada", prompt: "of the removed member", worktree: {} };
  const start = spawnTeammates({ ...ctx, backends }, [input], { worktrees: { setup } });
  // The test handles the error later.
  start.catch(() => undefined);
  await eventually("the setup", () => existsSync(begun));
  return { start, endSetup: () => rmSync(begun) };
}

test("a start whose team was deleted during its setup › is rolled back", async () => {
  const { ctx, branches } = await withWorktree();
  const { start, endSetup } = await setUpAda(ctx);
  await deleteTeam(ctx);
  expect(branches()).toEqual(["main", "teams/crew/ada"]);
  endSetup();
  await expect(start).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  expect(branches()).toEqual(["main"]);
});

test("a start whose member was removed during its setup › starts nothing, and leaves the name's new holder alone", async () => {
  const { ref, ctx, branches } = await withWorktree();
  const { start, endSetup } = await setUpAda(ctx);
  await killTeammates(ctx, ["ada"], { force: true });
  await addMembers(ref, [{ name: "ada", cwd: "/" }], { now: 5 });
  writeStatus(ref, "ada", statusOf({ instance: "new" }));
  endSetup();
  await expect(start).rejects.toMatchObject({
    code: "SPAWN_FAILED",
    message: "ada could not be started: another command removed it from the team meanwhile.",
  });
  expect(findMember(readTeam(ref), "ada").joinedAt).toBe(5);
  expect(readStatus(ref, "ada")?.instance).toBe("new");
  expect(await unreadMessages(ref, "ada")).toEqual([]);
  expect(branches()).toEqual(["main", "teams/crew/dev"]);
});

test("worktree › gets a free branch next to a branch named teams, and a hint if the named one is impossible", async () => {
  const { ref, ctx, repository, branches } = await withWorktree();
  git(repository, "branch", "--move", "teams/crew/dev", "dev");
  git(repository, "branch", "teams");
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const { member: dev } = await createWorktree(ctx, member, { forModel: true }, {});
  expect(worktreeOf(dev)?.branch).toBe("teams-2/crew/dev");
  const before = branches();
  const named = createWorktree(ctx, member, { branch: "teams/mine" }, {});
  await expect(named).rejects.toMatchObject({
    code: "SPAWN_FAILED",
    hint: expect.stringContaining("teams spawn dev --worktree <branch>"),
  });
  expect(branches()).toEqual(before);
});

test("worktree › that another git process keeps from its branch gets no hint to name another branch", async () => {
  const { ref, ctx, repository } = await withWorktree();
  writeFileSync(join(repository, ".git/refs/heads/mine.lock"), "");
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  await expect(createWorktree(ctx, member, { branch: "mine" }, {})).rejects.toMatchObject({
    message: expect.stringContaining("Another git process seems to be running"),
    hint: expect.stringMatching(/^Fix the problem that git reports/),
  });
});

test("worktree › gets a free branch next to a branch named as its team", async () => {
  const { ref, ctx, repository } = await withWorktree();
  git(repository, "branch", "--move", "teams/crew/dev", "dev");
  git(repository, "branch", "teams/crew");
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const { member: dev } = await createWorktree(ctx, member, {}, {});
  expect(worktreeOf(dev)?.branch).toBe("teams/crew-2/dev");
});

test("worktree › is rolled back if its setup is interrupted", async () => {
  const { ref, ctx, branches, repository } = await withWorktree();
  const stop = new AbortController();
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const marker = join(repository, "begun");
  const setup = `echo x > '${marker}'; sleep 600 & wait`;
  const start = createWorktree(ctx, member, { branch: "other" }, { setup, signal: stop.signal });
  const refused = expect(start).rejects.toMatchObject({
    code: "INTERRUPTED",
    message: "the setup of its worktree was interrupted.\nThe worktree was removed.",
  });
  await eventually("the setup", () => existsSync(marker));
  stop.abort();
  await refused;
  expect(branches()).toEqual(["main", "teams/crew/dev"]);
});

test("worktree › deleted by hand is also removed from git's records, with its unused branch, and the kill says so", async () => {
  const { ref, ctx, repository, worktree, branches } = await withWorktree();
  writeStatus(ref, "dev", statusOf({ process: deadProcess(), instance: "i" }));
  await patchMember(ref, "dev", { worktreePath: worktree.path, metadata: { _worktree: worktree } });
  removeTree(worktree.path);
  const [dev] = await killTeammates(ctx, ["dev"], { force: true });
  const { path, branch } = worktree;
  expect(dev?.worktree).toMatchObject({ path, branch, kept: null });
  expect(dev?.worktree?.note).toContain(`git's record of it was removed, and so was the branch ${branch}`);
  expect(git(repository, "worktree", "list", "--porcelain")).not.toContain(path);
  expect(branches()).toEqual(["main"]);
});

test("a branch with work, or a detached HEAD › outlives its deleted worktree directory", async () => {
  const { ctx, repository, worktree, branches } = await withWorktree();
  const { path, branch } = worktree;
  git(path, "commit", "--quiet", "--allow-empty", "--message", "work");
  removeTree(path);
  expect((await cleanUpWorktree(ctx, worktree)).note).toContain(`the branch ${branch} was kept`);
  expect(branches()).toContain(branch);
  // Reported once: git has forgotten the worktree.
  expect(await cleanUpWorktree(ctx, worktree)).toEqual({ path, branch, kept: null });
  git(repository, "worktree", "add", "--quiet", "--detach", path);
  git(path, "commit", "--quiet", "--allow-empty", "--message", "on no branch");
  removeTree(path);
  expect((await cleanUpWorktree(ctx, worktree)).note).toContain("git could not remove its record");
  expect(git(repository, "worktree", "list", "--porcelain")).toContain(path);
});

test("worktree › gets another path if git still knows a deleted worktree there", async () => {
  const { ref, ctx, repository, worktree } = await withWorktree();
  removeTree(worktree.path);
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const { member: again } = await createWorktree(ctx, member, {}, {});
  expect(again.worktreePath).toBe(`${worktree.path}-2`);
  expect(existsSync(`${worktree.path}-2`)).toBe(true);
});

/** Makes git run programs of the repository at each checkout and status. @returns a function that names the programs that ran */
function withPrograms(repository: string): () => readonly string[] {
  const seen = realpathSync(temporaryDirectory());
  const script = (path: string, name: string): void =>
    writeFileSync(path, `#!/bin/sh\ntouch '${join(seen, name)}'\n`, { mode: 0o755 });
  const hooks = join(repository, ".git/own-hooks");
  mkdirSync(hooks);
  for (const hook of ["post-checkout", "reference-transaction"]) script(join(hooks, hook), hook);
  script(join(hooks, "monitor"), "monitor");
  git(repository, "config", "core.hooksPath", hooks);
  git(repository, "config", "core.fsmonitor", join(hooks, "monitor"));
  return () => readdirSync(seen).sort();
}

test("worktree › runs the repository's hooks and its monitor for a person, and none of them for a model", async () => {
  const { ctx, ref, repository } = await withWorktree();
  writeFileSync(join(repository, "file"), "text\n");
  git(repository, "add", "file");
  git(repository, "commit", "--quiet", "--message", "file");
  const ran = withPrograms(repository);
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  // To copy changes, git looks for them, and asks the monitor.
  const withChanges = true;
  const { member: dev, rollback } = await createWorktree(ctx, member, { forModel: true, withChanges }, {});
  await cleanUpWorktree(ctx, worktreeOf(dev) ?? expect.fail("The member has no worktree."));
  await rollback();
  expect(ran()).toEqual([]);
  await createWorktree(ctx, member, { withChanges }, {});
  expect(ran()).toEqual(["monitor", "post-checkout", "reference-transaction"]);
});

test("worktree › fetches no missing object for a model, with any version of git", async () => {
  const { ctx, ref, repository } = await withWorktree();
  writeFileSync(join(repository, "file"), "text\n");
  git(repository, "add", "--all");
  git(repository, "commit", "--quiet", "--message", "file");
  const blob = git(repository, "rev-parse", "HEAD:file");
  rmSync(join(repository, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  const marker = join(realpathSync(temporaryDirectory()), "ran");
  const config = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.url": `ext::sh -c touch% ${marker}`,
    "protocol.ext.allow": "always",
  };
  for (const [key, value] of Object.entries(config)) git(repository, "config", key, value);
  const member = { ...findMember(readTeam(ref), "dev"), cwd: repository };
  const old = { ...ctx, env: { ...ctx.env, PATH: pathWithOldGit() } };
  for (const context of [ctx, old]) {
    const asked = createWorktree(context, member, { forModel: true }, {});
    await expect(asked).rejects.toMatchObject({
      hint: expect.stringContaining("teams spawn dev --worktree"),
    });
    expect(existsSync(marker)).toBe(false);
  }
  await expect(createWorktree(ctx, member, {}, {})).rejects.toThrow();
  expect(existsSync(marker)).toBe(true);
});

test.each([
  ["in plan mode", "plan", true],
  ["in an untrusted directory", "acceptEdits", false],
] as const)(
  "worktree › is refused for a model %s, and nothing is started",
  async (_where, maxMode, trusted) => {
    const { ctx, ref, branches } = await withWorktree();
    const before = branches();
    const input = { name: "ada", worktree: {}, maxMode };
    await expect(spawnTeammates(ctx, [input], { isTrusted: () => trusted })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(branches()).toEqual(before);
    expect(readTeam(ref).members.map(({ name }) => name)).not.toContain("ada");
  },
);

/** Adds a submodule `lib` to the repository, and checks it out in the worktree. */
function addSubmodule(repository: string, path: string): string {
  const source = realpathSync(temporaryDirectory());
  const allow = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
  git(source, "init", "--quiet", "--initial-branch=main");
  git(source, "commit", "--quiet", "--allow-empty", "--message", "first");
  git(repository, ...allow, "add", source, "lib");
  git(repository, "commit", "--quiet", "--message", "lib");
  git(path, "merge", "--quiet", "--ff-only", "main");
  git(path, ...allow, "update", "--init");
  return join(path, "lib");
}

test("worktree › is kept if a flag in the index hides its change from git", async () => {
  const { ctx, repository, worktree } = await withWorktree();
  writeFileSync(join(worktree.path, "config.ini"), "a = 1\n");
  git(worktree.path, "add", "--all");
  git(worktree.path, "commit", "--quiet", "--message", "config");
  git(repository, "merge", "--quiet", worktree.branch);
  git(worktree.path, "update-index", "--assume-unchanged", "config.ini");
  appendFileSync(join(worktree.path, "config.ini"), "b = 2\n");
  expect(await cleanUpWorktree(ctx, worktree)).toMatchObject({
    kept: expect.stringContaining("1 changed file (index flags hide some"),
  });
  expect(existsSync(join(worktree.path, "config.ini"))).toBe(true);
});

test("worktree › with a clean submodule is removed", async () => {
  const { ctx, repository, worktree, branches } = await withWorktree();
  addSubmodule(repository, worktree.path);
  expect(await cleanUpWorktree(ctx, worktree)).toMatchObject({ kept: null });
  expect([existsSync(worktree.path), branches()]).toEqual([false, ["main"]]);
});

test("worktree › with commits that only a submodule has is kept, even by a discard, which then ends no member", async () => {
  const { ref, ctx, repository, worktree } = await withWorktree();
  const lib = addSubmodule(repository, worktree.path);
  git(lib, "commit", "--quiet", "--allow-empty", "--message", "work");
  git(worktree.path, "commit", "--quiet", "--all", "--message", "lib");
  git(repository, "merge", "--quiet", worktree.branch);
  const kept = "in lib: 1 commit that is on no remote";
  const end = await cleanUpWorktree(ctx, worktree);
  expect(end).toMatchObject({
    kept,
    advice: expect.stringMatching(/would lose commits .*push or copy .*lib\. Then: git/),
  });
  const discard = cleanUpWorktree(ctx, { ...worktree, discard: statusOf({}).process });
  expect(await discard).toMatchObject({ kept });
  await expect(killTeammates(ctx, ["dev"], { discardWorktrees: true })).rejects.toMatchObject({
    code: "WORKTREE_DIRTY",
    message: expect.stringContaining(kept),
  });
  expect(readTeam(ref).members).toHaveLength(2);
  git(lib, "push", "--quiet", "origin", "HEAD:refs/heads/work");
  expect(await cleanUpWorktree(ctx, worktree)).toMatchObject({ kept: null });
});

/** Runs the command at the end of the line that a person reads. */
function runPrinted(line: string): void {
  execFileSync("/bin/sh", ["-c", line.slice(line.indexOf("git -C"))], {
    env: { ...process.env, ...GIT_IDENTITY },
  });
}

test("worktree › that is kept names a command that removes it: dirty, locked, with submodules", async () => {
  const { ctx, repository, worktree } = await withWorktree();
  const { path } = worktree;
  const keptLine = async (): Promise<string> => {
    const [line] = keptLines([await cleanUpWorktree(ctx, worktree)]);
    return line ?? expect.fail("The worktree was removed.");
  };
  const addAgain = (): string => git(repository, "worktree", "add", "--quiet", path, worktree.branch);
  addSubmodule(repository, path);
  writeFileSync(join(path, "new.txt"), "new\n");
  runPrinted(await keptLine());
  expect(existsSync(path)).toBe(false);
  addAgain();
  git(repository, "worktree", "lock", "--reason", "on a stick", path);
  const locked = await keptLine();
  expect(locked).toContain("stays: it is locked: on a stick.");
  expect(await cleanUpWorktree(ctx, { ...worktree, discard: statusOf({}).process })).toMatchObject({
    kept: "it is locked: on a stick",
  });
  runPrinted(locked);
  expect(existsSync(path)).toBe(false);
  addAgain();
  rmSync(join(path, ".git"));
  expect(await keptLine()).not.toContain("git -C");
});
