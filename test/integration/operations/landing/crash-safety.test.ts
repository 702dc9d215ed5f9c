import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { rebaseOnto } from "../../../../src/git/rebase.ts";
import { landWork } from "../../../../src/operations/landing/land.ts";
import {
  beginLanding,
  markOfGit,
  recoverLanding,
  writeLanding,
} from "../../../../src/operations/landing/landing-record.ts";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { GIT_IDENTITY, git } from "../../../support/files/git.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { type Script, script } from "../../../support/processes/script-process.ts";
import { type LandingTeam, landingTeam, SHARED } from "../../../support/team/landing-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../../support/timing/steady-clock.ts";

const identity = Object.entries(GIT_IDENTITY).map(([name, value]) => `${name}=${value}`);
const landing = script("team/land-work", ["env", ...identity]);
const REAL_GIT = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
const STAND_IN = join(process.cwd(), "test", "fixtures", "git");
const PASSES = "test -f a.txt";

/** Creates a team whose member has a commit and a completed task, on a branch that has moved on. */
async function readyTeam(text: string): Promise<LandingTeam & { readonly task: string }> {
  const team = await landingTeam(["dev"]);
  const { ref, repository, worktree, commit } = team;
  commit(worktree("dev"), "shared.txt", text);
  commit(worktree("dev"), "a.txt", "a\n");
  commit(repository, "shared.txt", SHARED.replace("one", "main"));
  const { id: task } = await addTask(ref, "dev", { subject: "work", owner: "dev" });
  await updateTask(ref, "dev", task, { status: "completed" });
  return { ...team, task };
}

const MERGES = `${SHARED}four\n`;
const CONFLICTS = SHARED.replace("one", "dev");

async function mustLand({ ref, ctx, repository, worktree, task }: Awaited<ReturnType<typeof readyTeam>>) {
  const gate = { command: PASSES, env: ctx.env };
  const [report] = await landWork(ctx, ["dev"], { gate, signal: new AbortController().signal });
  expect(["landed", "nothing"]).toContain(report?.outcome);
  expect(git(repository, "log", "--format=%s").split("\n")).toEqual([
    ...["Change a.txt", "Change shared.txt", "Change shared.txt", "Change shared.txt"],
  ]);
  for (const top of [repository, worktree("dev")]) expect(git(top, "status", "--short")).toBe("");
  expect(readFileSync(join(repository, "shared.txt"), "utf8")).toBe("main\ntwo\nthree\nfour\n");
  expect(getTask(ref, task).status).toBe("completed");
  await nothingLeft({ ref, repository });
}

async function mustReturn({ ref, ctx, repository, worktree, task }: Awaited<ReturnType<typeof readyTeam>>) {
  const [report] = await landWork(ctx, ["dev"], { signal: new AbortController().signal });
  expect(report).toMatchObject({ outcome: "conflict", taskId: task, notified: true });
  expect(git(worktree("dev"), "status", "--short", "--branch")).toBe("## teams/crew/dev");
  expect(git(worktree("dev"), "log", "--format=%s", "-1")).toBe("Change a.txt");
  expect(getTask(ref, task)).toMatchObject({ status: "in_progress", owner: "dev" });
  expect((await unreadMessages(ref, "dev")).length).toBe(1);
  await nothingLeft({ ref, repository });
}

async function nothingLeft({ ref, repository }: Pick<LandingTeam, "ref" | "repository">): Promise<void> {
  expect(readdirSync(join(ref.paths.dir, "landings"))).toEqual([]);
  expect(readdirSync(join(repository, ".git")).filter((name) => name.startsWith("teams-"))).toEqual([]);
}

function start({ ref, repository }: LandingTeam, n: number, verify: string, git = ""): Script {
  return landing(ref.home.root, repository, String(n), git, verify, "dev");
}

test("land › continues after a kill before any change of a file", async () => {
  const steps = await killAtEveryStep(async (n) => {
    const team = await readyTeam(CONFLICTS);
    return { child: start(team, n, ""), check: () => mustReturn(team) };
  });
  expect(steps).toBeGreaterThan(10);
});

test.for([
  ["lands", MERGES, PASSES, mustLand],
  ["conflicts", CONFLICTS, "", mustReturn],
] as const)(
  "land › continues after a kill at any change by git, done alone or not at all, when the work %s",
  async ([, text, verify, check]) => {
    const steps = await killAtEveryStep(
      async (n) => {
        const team = await readyTeam(text);
        const COUNT = join(dirname(team.ref.home.root), "count");
        Object.assign(process.env, { COUNT, KILL_AT: String(n), REAL_GIT });
        return { child: start(team, 0, verify, STAND_IN), check: () => check(team) };
      },
      { few: true },
    );
    // Two kills for each of two changes, and one run without a kill.
    expect(steps).toBe(5);
  },
);

test.for([3, 4])("land › continues after a kill at its second rebase (%i)", async (n) => {
  const team = await readyTeam(MERGES);
  const { ref, ctx, repository, worktree } = team;
  const COUNT = join(dirname(ref.home.root), "count");
  Object.assign(process.env, { COUNT, KILL_AT: String(n), REAL_GIT });
  // During the first check, the branch gets a commit that conflicts with the work.
  const late = `printf 'main\\ntwo\\nlate\\n' > shared.txt && git commit --quiet --all --message late`;
  const verify = `cd '${repository}' && ${late}`;
  expect((await start(team, 0, verify, STAND_IN).ended()).signal).toBe("SIGKILL");
  const [report] = await landWork(ctx, ["dev"], { signal: new AbortController().signal });
  expect(report).toMatchObject({ outcome: "conflict" });
  expect(git(worktree("dev"), "status", "--short", "--branch")).toBe("## teams/crew/dev");
  await nothingLeft({ ref, repository });
});

test("land › ends the check of a killed landing before it begins again", async () => {
  const team = await readyTeam(MERGES);
  const started = join(dirname(team.ref.home.root), "started");
  const child = start(team, 0, `echo $$ > '${started}.new' && mv '${started}.new' '${started}' && sleep 600`);
  const pid = await eventually("the check", () => existsSync(started) && readFileSync(started, "utf8"));
  child.child.kill("SIGKILL");
  await child.ended();
  expect(startTimeOf(Number(pid))).toBeDefined();
  await mustLand(team);
  expect(startTimeOf(Number(pid))).toBeUndefined();
});

test("land › keeps the conflict resolution in the rebase of a killed landing", async () => {
  const { ref, ctx, worktree, commit } = await readyTeam(CONFLICTS);
  const top = worktree("dev");
  const from = commit(top, "shared.txt", SHARED.replace("one", "dev again"));
  writeLanding(ref, "dev", { ...beginLanding(ref, "dev", top), from });
  expect(await rebaseOnto(top, "main", ctx.env)).toMatchObject({ conflicts: ["shared.txt"] });
  const [file, resolved] = [join(top, "shared.txt"), SHARED.replace("one", "dev and main")];
  const stopped = git(top, "rev-parse", "--path-format=absolute", "--git-path", "rebase-merge/stopped-sha");
  // The clock that stamps files is coarse.
  await eventually("a later time", () => {
    writeFileSync(file, resolved);
    return statSync(file).ctimeMs > statSync(stopped).mtimeMs;
  });
  const land = () => landWork(ctx, ["dev"], { signal: new AbortController().signal });
  const refused = [{ outcome: "refused", reason: expect.stringContaining("was worked on since then") }];
  expect(await land()).toMatchObject(refused);
  expect(readFileSync(file, "utf8")).toBe(resolved);
  const proceed = () => git(top, "-c", "core.editor=true", "rebase", "--continue");
  git(top, "add", "shared.txt");
  // The last commit has a conflict too, which nothing has changed yet.
  expect(proceed).toThrow("could not apply");
  expect(await land()).toMatchObject(refused);
  writeFileSync(file, SHARED.replace("one", "all"));
  git(top, "add", "shared.txt");
  proceed();
  expect(await land()).toMatchObject([{ outcome: "landed", commits: 3 }]);
});

test("land › aborts an untouched rebase of a killed landing when git's log shows signatures", async () => {
  const team = await readyTeam(CONFLICTS);
  const { ref, ctx, repository, worktree } = team;
  const signer = join(dirname(ref.home.root), "signer");
  const signs =
    "cat > /dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; echo '-----BEGIN PGP SIGNATURE-----'";
  const program = `#!/bin/sh\ncase "$*" in *--verify*) echo good >&2 ;; *) ${signs} ;; esac\n`;
  writeFileSync(signer, program, { mode: 0o755 });
  git(repository, "config", "gpg.program", signer);
  git(repository, "config", "log.showSignature", "true");
  git(repository, "commit", "--quiet", "--amend", "--no-edit", "--gpg-sign");
  const top = worktree("dev");
  writeLanding(ref, "dev", { ...beginLanding(ref, "dev", top), from: git(top, "rev-parse", "HEAD") });
  expect(await rebaseOnto(top, "main", ctx.env)).toMatchObject({ conflicts: ["shared.txt"] });
  expect(git(top, "log", "-1", "--format=%s")).toBe("good\nChange shared.txt");
  await mustReturn(team);
});

test("land › waits for the git commands of a killed landing", async () => {
  const { ref, ctx, worktree } = await landingTeam(["dev"]);
  const record = beginLanding(ref, "dev", worktree("dev"));
  const [go, done] = [join(dirname(ref.home.root), "go"), join(dirname(ref.home.root), "done")];
  const env = { ...process.env, TEAMS_COMMAND: markOfGit(record) };
  const waits = `until [ -e '${go}' ]; do sleep 0.02; done; touch '${done}'`;
  const command = spawn("sh", ["-c", waits], { env });
  onTestFinished(() => void command.kill("SIGKILL"));
  await once(command, "spawn");
  let isOver = false;
  // The recovery reads the clock once at its start, and after each check of the command.
  const readings = stopSteadyClock();
  const recovery = recoverLanding(ref, "dev", ctx.env).then(() => {
    isOver = true;
    return existsSync(done);
  });
  await eventually("two checks of the command", () => isOver || readings() > 2);
  writeFileSync(go, "");
  expect(await recovery).toBe(true);
});
