import { callersServer } from "../backend/tmux/server-for.ts";
import type { Env } from "../os/env.ts";
import { findProgram } from "../os/files/access.ts";
import { isNoServer } from "../tmux/server.ts";
import { type Finding, ok, warn } from "./finding.ts";

const NAME = "tmux PATH";

/**
 * Checks whether the bindings of a running tmux server find `teams`: it has the PATH of the shell that started it, often without what
 * nvm adds. No finding without a server.
 */
export async function checkTmuxPath(env: Env): Promise<Finding[]> {
  try {
    const { lines } = await callersServer(env).batch([["show-environment", "-g", "PATH"]]);
    const path = lines.find((line) => line.startsWith("PATH="))?.slice("PATH=".length) ?? "";
    if (findProgram("teams", { ...env, PATH: path }) !== undefined) return [ok(NAME, "bindings find teams")];
  } catch (error) {
    if (isNoServer(error)) return [];
    throw error;
  }
  return [
    warn(
      NAME,
      "teams is not on the PATH of the tmux server: your own bindings do not find it (the bindings of tmux.conf.example do while agents run)",
      'In a shell that finds teams: tmux set-environment -g PATH "$PATH"',
    ),
  ];
}
