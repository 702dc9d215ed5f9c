import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { runtimeOfRoot } from "../protocol/paths.ts";
import { isUnreachable } from "../tmux/server.ts";
import { checkTeams } from "./check-teams.ts";
import {
  checkLeftovers,
  checkOutputs,
  checkTaskLists,
  checkTeamDirectories,
  type TeamsDirectories,
} from "./deleted-teams.ts";
import { checkRoot, checkRuntime } from "./directories.ts";
import { attempt, type Finding, fail } from "./finding.ts";
import { checkModel, checkModelOnline } from "./model-access.ts";
import { checkGit, checkNode, checkShell, checkTmux } from "./programs.ts";
import { checkProxies } from "./proxies.ts";
import { checkInsideTmux, checkIterm2, checkTerminal } from "./terminal.ts";
import { checkTmuxOptions } from "./tmux-options.ts";
import { checkTmuxPath } from "./tmux-path.ts";

interface DoctorOptions {
  readonly env: Env;
  /** The socket of the tmux server that `$TMUX` named, if it has ended. */
  readonly endedTmux?: string | undefined;
  /** With the variables that the settings add for agents. */
  readonly agentEnv: Env;
  /** The value of `process.versions.node`. */
  readonly nodeVersion: string;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  /** As in the environment: the checks follow links and report if that fails. */
  readonly root: string;
  /** The common runtime directory of all roots. */
  readonly runtime: string;
  /** Whether to send a request to the model's server. */
  readonly online: boolean;
  /** Whether to repair problems and remove leftovers. */
  readonly fix: boolean;
  /** Check only this team, even if another program created it. */
  readonly team?: string | undefined;
  readonly clock?: Clock;
}

const ROOT_REMEDY =
  "Take ownership of it and of the directories above it (chown, chmod u+rwx), or set TEAMS_HOME to another directory.";
const RUNTIME_REMEDY = "Set XDG_RUNTIME_DIR to a directory of your own (mode 700).";
const SCRATCH_REMEDY = "Give only yourself access to /tmp/teams-<your user id> (chmod 700).";
const ROOT_AND_RUNTIME_REMEDY = `${ROOT_REMEDY} For the bells: set XDG_RUNTIME_DIR.`;

const TMUX_REMEDY = "Run `tmux -V` and `tmux ls` to see the problem.";

/** Adds the findings about tmux's options, if tmux can be used. */
async function withTmuxOptions(env: Env, tmux: Finding): Promise<readonly Finding[]> {
  if (tmux.level !== "ok") return [tmux];
  try {
    return [tmux, ...(await checkTmuxOptions(env)), ...(await checkTmuxPath(env))];
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    return [tmux, fail("tmux server", error.message, error.hint ?? TMUX_REMEDY)];
  }
}

/** Checks everything that a team needs. */
export async function runChecks(options: DoctorOptions): Promise<readonly Finding[]> {
  const { env, agentEnv, root, runtime, clock = systemClock } = options;
  const homeOf = (): TeamsDirectories => {
    const real = realPathOf(root);
    return { root: real, runtime: runtimeOfRoot(runtime, real) };
  };
  const [tmux, iterm2, git, model, proxies] = await Promise.all([
    attempt("tmux", async () => withTmuxOptions(env, await checkTmux(env)), TMUX_REMEDY),
    attempt("iTerm2", () => checkIterm2(env), "Run `it2 session list` to see the problem."),
    attempt("git", () => checkGit(env), "Run `git --version` to see the problem."),
    options.online ? checkModelOnline(agentEnv) : checkModel(agentEnv),
    attempt("proxy", () => checkProxies(agentEnv), "Correct HTTPS_PROXY and HTTP_PROXY."),
  ]);
  return [
    checkNode(options.nodeVersion),
    tmux,
    checkInsideTmux(env, options.endedTmux),
    iterm2,
    ...checkTerminal(env, options.isTerminal),
    await attempt("shell", () => checkShell(env), "Set SHELL to an installed shell, such as /bin/bash."),
    git,
    await attempt("root directory", () => checkRoot(realPathOf(root)), ROOT_REMEDY),
    await attempt("runtime directory", () => checkRuntime(runtime), RUNTIME_REMEDY),
    model,
    proxies,
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
