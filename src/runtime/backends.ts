import type { Backend } from "../backend/backend.ts";
import { chooseBackend } from "../backend/choose-backend.ts";
import { type InProcessBackend, inProcessBackend } from "../backend/in-process/in-process-backend.ts";
import { isIterm2 } from "../backend/iterm2/it2-cli.ts";
import { iterm2Backend } from "../backend/iterm2/iterm2-backend.ts";
import { type ProcessBackendOptions, processBackend } from "../backend/process-backend.ts";
import { callersServer } from "../backend/tmux/server-for.ts";
import { tmuxPaneBackend } from "../backend/tmux/tmux-backend.ts";
import type { Backends } from "../operations/context.ts";
import type { Env } from "../os/env.ts";
import { findProgram } from "../os/files/access.ts";
import type { BackendType } from "../schema/config.ts";

export interface BackendsOptions extends ProcessBackendOptions {
  /** The in-process backend of the running lead; without it, no teammate can start in this process. */
  readonly inProcess?: InProcessBackend;
  /** Minimum size of a teammate's pane, in cells. */
  readonly minPane?: { readonly columns: number; readonly rows: number } | undefined;
}

/**
 * Returns the backends of this machine, each created on first use, and `choose`, which selects one of them for a command.
 * @param env the caller's environment: its tmux, terminal and PATH
 */
export function openBackends(env: Env, options: BackendsOptions = {}): Backends {
  const minPane = options.minPane && { width: options.minPane.columns, height: options.minPane.rows };
  const factories: Readonly<Record<BackendType, () => Backend>> = {
    tmux: () => tmuxPaneBackend({ server: callersServer(env), env, minPane }),
    iterm2: () => iterm2Backend({ env }),
    process: () => processBackend(options),
    "in-process": () => options.inProcess ?? inProcessBackend(),
  };
  const created = new Map<BackendType, Backend>();
  const get = (type: BackendType): Backend => {
    const backend = created.get(type) ?? factories[type]();
    created.set(type, backend);
    return backend;
  };
  return {
    of: (type) => (isBackendType(type, factories) ? get(type) : undefined),
    choose: async (mode, command) => {
      const { backend: type, why } = chooseBackend({
        mode,
        command,
        insideTmux: Boolean(env.TMUX),
        tmuxFound: findProgram("tmux", env) !== undefined,
        insideIterm2: isIterm2(env),
        it2Found: findProgram("it2", env) !== undefined,
      });
      return { backend: get(type), why };
    },
  };
}

function isBackendType(type: string, factories: object): type is BackendType {
  return Object.hasOwn(factories, type);
}
