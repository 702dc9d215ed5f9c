import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, isAbsolute } from "node:path";

useTmux(process.env.TEAMS_TEST_TMUX);

/**
 * Keeps every test away from the user's own team, tmux server, key and proxy, and from variables that select another repository,
 * editor or diff for git: a test sets what it needs.
 */
for (const name of Object.keys(process.env)) {
  if (/^(TMUX|TMUX_PANE|TEAMS_|CLAUDE|ANTHROPIC_|GIT_)|_proxy$/i.test(name)) delete process.env[name];
}
// Each Node process would parse these certificates at its start, which doubles its CPU time; tests use no TLS.
delete process.env.NODE_EXTRA_CA_CERTS;

/** Puts a build of tmux first on the PATH of every process of the tests. */
function useTmux(program: string | undefined): void {
  if (program === undefined || program === "") return;
  if (!isAbsolute(program) || basename(program) !== "tmux")
    throw new Error(`TEAMS_TEST_TMUX must be the absolute path of a program named tmux, not ${program}.`);
  accessSync(program, constants.X_OK);
  process.env.PATH = `${dirname(program)}${delimiter}${process.env.PATH ?? ""}`;
}
