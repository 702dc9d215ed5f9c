import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { checkRoot, checkRuntime } from "./directories.ts";
import type { Finding } from "./finding.ts";
import { checkLeftovers } from "./leftovers.ts";
import { checkModel, checkModelOnline } from "./model-access.ts";
import { checkGit, checkNode, checkShell, checkTmux } from "./programs.ts";
import { checkInsideTmux, checkTerminal } from "./terminal.ts";

export interface DoctorOptions {
  readonly env: Env;
  /** As `process.versions.node` has it. */
  readonly nodeVersion: string;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  readonly root: string;
  /** The runtime directory of all roots, and of this one. */
  readonly runtime: { readonly all: string; readonly own: string };
  /** Whether the model's server may be asked. */
  readonly online: boolean;
  /** Whether leftovers are removed. */
  readonly fix: boolean;
  readonly clock?: Clock;
}

/** Looks at everything that a team needs, and says of each how it is. */
export async function examine(options: DoctorOptions): Promise<readonly Finding[]> {
  const { env, root, runtime, clock = systemClock } = options;
  const [tmux, git, model] = await Promise.all([
    checkTmux(env),
    checkGit(env),
    options.online ? checkModelOnline(env) : checkModel(env),
  ]);
  return [
    checkNode(options.nodeVersion),
    tmux,
    checkInsideTmux(env),
    ...checkTerminal(env, options.isTerminal),
    checkShell(env),
    git,
    checkRoot(root),
    checkRuntime(runtime.all),
    model,
    checkLeftovers({ root, runtime: runtime.own }, clock.now(), options.fix),
  ];
}
