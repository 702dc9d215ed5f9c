import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { hasEnvEntry, processTable, signalProcess } from "../../../src/os/process/process-table.ts";
import { runtimeOfRoot, type TeamPaths, teamPaths } from "../../../src/protocol/paths.ts";
import { type TeamDir, teamDir } from "../../../src/schema/names.ts";
import { type TmuxServer, tmuxServer } from "../../../src/tmux/server.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { eventually } from "../timing/eventually.ts";
import { failureReport } from "./failure-report.ts";

/** A private home, root, runtime directory and (once started) tmux server for one test. */
export interface PrivateTmux {
  readonly home: string;
  readonly root: string;
  readonly runtime: string;
  /** The environment of a caller outside tmux; every process started with it is ended after the test. */
  readonly env: Env & { readonly PATH: string };
  readonly server: TmuxServer;
  /** Runs tmux on this server, and returns its output. */
  tmux(...args: string[]): string;
  /**
   * Starts the user's session with one pane that runs `cat` (as two words, so that no login shell is
   * involved).
   */
  session(name?: string, size?: { width: number; height: number }): { session: string; pane: string };
  /**
   * Attaches a user's terminal to a session: a pane of a second private server.
   * @param colors the terminal's own text and background, as a style of tmux; it answers programs that ask for them
   */
  attach(session: string, size?: { width: number; height: number }, colors?: string): Promise<Terminal>;
  /** The environment of a caller inside a pane. */
  inside(pane: string): Env;
  paths(team: string): TeamPaths & { readonly team: TeamDir };
  /** Ends the server as `tmux kill-server` does, and waits until its process has ended. */
  killServer(): Promise<void>;
}

export interface Terminal {
  /** The visible text of the terminal. */
  screen(): string;
  /** The same text with its styles. */
  drawn(): string;
  /** Types key names or text. */
  type(...keys: string[]): void;
  /** Resizes the terminal. */
  resize(size: { width: number; height: number }): void;
}

export interface PrivateTmuxOptions {
  /** The user's configuration: the name of a file in test/fixtures/tmux.conf, or its text. */
  readonly config?: string;
  readonly env?: Env;
  /** The name of its socket directory. */
  readonly sockets?: string;
}

/** Marks every process of the test, so that the clean-up ends no other process. */
const MARKER = "TEAMS_TEST";
/** A time limit in milliseconds, which only ends a call that hangs. */
const DEADLINE = 180_000;

export function privateTmux(options: PrivateTmuxOptions = {}): PrivateTmux {
  const home = temporaryDirectory();
  // Short: the path of a socket may have 103 characters on macOS, and its temporary directories are long.
  const id = `t${randomBytes(3).toString("hex")}`;
  const [root, runtime, sockets] = ["root", "run", options.sockets ?? "tmux"].map((name) => {
    const path = join(home, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  }) as [string, string, string];
  const configFile = join(home, "tmux.conf");
  writeFileSync(configFile, configText(options.config));
  // Without a developer's own tmux, whose pane the server would inherit.
  const { TMUX: _server, TMUX_PANE: _pane, ...own } = process.env;
  const env = {
    ...own,
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home,
    TEAMS_HOME: root,
    XDG_RUNTIME_DIR: runtime,
    TMUX_TMPDIR: sockets,
    TEAMS_TMUX_SOCKET: id,
    ...options.env,
    [MARKER]: id,
  };
  const args = ["-L", id, "-f", configFile];
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-u", ...args, ...words], {
      env,
      encoding: "utf8",
      timeout: DEADLINE,
      stdio: "pipe",
    }).trimEnd();
  const serverPid = () => {
    const result = spawnSync("tmux", [...args, "display-message", "-p", "#{pid}"], { env, encoding: "utf8" });
    return result.status === 0 ? Number(result.stdout) || undefined : undefined;
  };
  const killServer = async () => {
    const pid = serverPid();
    spawnSync("tmux", [...args, "kill-server"], { env, timeout: DEADLINE });
    // A zombie is no longer a server; its parent may reap it at any time.
    if (pid !== undefined) await eventually("the tmux server's end", () => startTimeOf(pid) === undefined);
  };
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") console.error(failureReport({ env, root }));
    await reap(id, killServer);
  });
  const runtimeOf = runtimeOfRoot(join(runtime, "teams"), root);
  return {
    home,
    root,
    runtime,
    env,
    tmux,
    killServer,
    server: tmuxServer({ socket: { name: id }, env, configFile, timeoutMs: DEADLINE }),
    session(name = "work", { width, height } = { width: 200, height: 50 }) {
      const text = tmux(
        ...["new-session", "-d", "-s", name, "-n", "mine", "-x", `${width}`, "-y", `${height}`],
        ...["-P", "-F", "#{session_id} #{pane_id}", "--", "env", "cat"],
        ...[";", "set-option", "-t", `=${name}:`, "destroy-unattached", "off"],
        ...sizing(name, { width, height }),
      );
      const [session = "", pane = ""] = text.split(" ");
      return { session, pane };
    },
    async attach(target, { width, height } = { width: 200, height: 50 }, colors = "default") {
      const outside = privateTmux({ config: `set -g status off\nset -g window-style "${colors}"\n` });
      const clients = () => tmux("list-clients", "-F", "#{client_name}").split("\n").filter(Boolean).length;
      const before = clients();
      const words = ["env", "-u", "TMUX", "tmux", "-u", ...args, "attach-session", "-t", target];
      outside.tmux(
        ...["new-session", "-d", "-s", "person", "-x", `${width}`, "-y", `${height}`],
        ...["-e", `TMUX_TMPDIR=${sockets}`, "-e", "TERM=screen-256color", "--", ...words],
        ...sizing("person", { width, height }),
      );
      await eventually("the client", () => clients() > before);
      // A busy machine delivers several keys at once; tmux would take the third for pasted text, without its binding.
      tmux("set-option", "-g", "assume-paste-time", "0");
      return {
        screen: () => outside.tmux("capture-pane", "-p", "-t", "=person:"),
        drawn: () => outside.tmux("capture-pane", "-e", "-p", "-t", "=person:"),
        type: (...keys) => void outside.tmux("send-keys", "-t", "=person:", ...keys),
        resize: (to) =>
          void outside.tmux("resize-window", "-t", "=person:", "-x", `${to.width}`, "-y", `${to.height}`),
      };
    },
    inside(pane) {
      const tmuxVariable = tmux("display-message", "-p", "-t", pane, "#{socket_path},#{pid},0");
      return { ...env, TMUX: tmuxVariable, TMUX_PANE: pane };
    },
    paths(name) {
      const team = teamDir(name);
      const paths = teamPaths(root, runtimeOf, team);
      mkdirSync(paths.dir, { recursive: true, mode: 0o700 });
      return { ...paths, team };
    },
  };
}

/** Returns additional arguments after those of `new-session`, whose `-x` and `-y` tmux 3.2a ignores. */
export function sizing(session: string, { width, height }: { width: number; height: number }): string[] {
  const window = `=${session}:`;
  const resize = `resize-window -t ${window} -x ${width} -y ${height} ; set-option -w -u -t ${window} window-size`;
  return [";", "if-shell", "-F", "#{m:3.2*,#{version}}", resize];
}

function configText(config: string | undefined): string {
  if (config === undefined) return "";
  const file = new URL(`../../fixtures/tmux.conf/${config}.conf`, import.meta.url);
  return /^[\w-]+$/.test(config) ? readFileSync(file, "utf8") : config;
}

/**
 * Ends the server and every process with this test's marker. A failure here never hides the failure of the
 * test.
 */
async function reap(id: string, killServer: () => Promise<void>): Promise<void> {
  try {
    await killServer();
  } catch (error) {
    console.error(`The private tmux server of a test could not be ended: ${String(error)}`);
  }
  const deadline = performance.now() + DEADLINE;
  for (;;) {
    const left = processTable().filter(
      (row) => row.pid !== process.pid && hasEnvEntry(row.pid, `${MARKER}=${id}`),
    );
    if (left.length === 0 || performance.now() > deadline) return;
    for (const row of left) signalProcess(row.pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
