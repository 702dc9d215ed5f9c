import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { realPathOf } from "../os/files/real-path.ts";
import { runtimeOfRoot } from "../protocol/paths.ts";
import { checkTeams } from "./check-teams.ts";
import {
  checkLeftovers,
  checkOutputs,
  checkTaskLists,
  checkTeamDirectories,
  type TeamsDirectories,
} from "./deleted-teams.ts";
import { checkRoot, checkRuntime } from "./directories.ts";
import { attempt, type Finding } from "./finding.ts";
import { checkModel, checkModelOnline } from "./model-access.ts";
import { checkGit, checkNode, checkShell, checkTmux } from "./programs.ts";
import { checkInsideTmux, checkIterm2, checkTerminal } from "./terminal.ts";
import { checkTmuxOptions } from "./tmux-options.ts";

interface DoctorOptions {
  readonly env: Env;
  /** As `process.versions.node` has it. */
  readonly nodeVersion: string;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  /** As the environment names it: links are followed by the checks, which may find that they cannot. */
  readonly root: string;
  /** The runtime directory of all roots. */
  readonly runtime: string;
  /** Whether the model's server may be asked. */
  readonly online: boolean;
  /** Whether what can be mended is, and leftovers are removed. */
  readonly fix: boolean;
  /** Of the teams only this one is looked into, whoever made it. */
  readonly team?: string | undefined;
  readonly clock?: Clock;
}

const ROOT_REMEDY =
  "Make it yours (chown, chmod u+rwx) with all above it, or set TEAMS_HOME to another directory.";
const RUNTIME_REMEDY = "Set XDG_RUNTIME_DIR to a directory of your own (mode 700).";
const SCRATCH_REMEDY = "Make the directory teams-<your user id> in /tmp yours alone (chmod 700).";
const ROOT_AND_RUNTIME_REMEDY = `${ROOT_REMEDY} For the bells: set XDG_RUNTIME_DIR.`;

const TMUX_REMEDY = "Run `tmux -V` and `tmux ls`, and see what is wrong with it.";

/** Of a tmux that cannot be used nothing more is asked. */
async function withTmuxOptions(env: Env, tmux: Finding): Promise<readonly Finding[]> {
  return tmux.level === "ok" ? [tmux, ...(await checkTmuxOptions(env))] : [tmux];
}

/** Looks at everything that a team needs, and says of each how it is. */
export async function runChecks(options: DoctorOptions): Promise<readonly Finding[]> {
  const { env, root, runtime, clock = systemClock } = options;
  const homeOf = (): TeamsDirectories => {
    const real = realPathOf(root);
    return { root: real, runtime: runtimeOfRoot(runtime, real) };
  };
  const [tmux, iterm2, git, model] = await Promise.all([
    attempt("tmux", async () => withTmuxOptions(env, await checkTmux(env)), TMUX_REMEDY),
    attempt("iTerm2", () => checkIterm2(env), "Run `it2 session list` and see what is wrong with it."),
    attempt("git", () => checkGit(env), "Run `git --version` and see what is wrong with it."),
    options.online ? checkModelOnline(env) : checkModel(env),
  ]);
  return [
    checkNode(options.nodeVersion),
    tmux,
    checkInsideTmux(env),
    iterm2,
    ...checkTerminal(env, options.isTerminal),
    await attempt("shell", () => checkShell(env), "Set SHELL to a shell that is there, such as /bin/bash."),
    git,
    await attempt("root directory", () => checkRoot(realPathOf(root)), ROOT_REMEDY),
    await attempt("runtime directory", () => checkRuntime(runtime), RUNTIME_REMEDY),
    model,
    await attempt(
      "leftovers",
      () => checkLeftovers(homeOf(), clock.now(), options.fix),
      ROOT_AND_RUNTIME_REMEDY,
    ),
    await attempt("old output", () => checkOutputs(clock.now(), options.fix), SCRATCH_REMEDY),
    await attempt("task lists", () => checkTaskLists(root), ROOT_REMEDY),
    await attempt("team directories", () => checkTeamDirectories(root), ROOT_REMEDY),
    await attempt("teams", () => checkTeams(homeOf(), { fix: options.fix, only: options.team }), ROOT_REMEDY),
  ].flat();
}
