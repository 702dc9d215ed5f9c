import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { launchArgv, launchScript } from "../../../src/launch/launch-script.ts";
import { prepareLaunches } from "../../../src/launch/prepare.ts";
import { replaceFile } from "../../../src/os/files/atomic-write.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { type ExitRecord, exitRecord } from "../../../src/schema/status.ts";
import { makeFifos, openFifoBell } from "../../../src/wakeup/fifo-bell.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { AGENTS } from "./spawn-requests.ts";

/** The shells that a system may install as `sh`. */
export const SHELLS = ["/bin/dash", "/bin/bash"].filter((shell) => existsSync(shell));

export interface LaunchOptions {
  /** A stub agent, which reports ready and obeys its input. */
  readonly agent?: "ready.sh" | "deaf.sh";
  /** Another program instead of a stub agent. */
  readonly argv?: readonly string[];
  /** Variables of the caller's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs before the launch, when the server is already running. */
  readonly before?: (t: PrivateTmux) => void;
}

/** An agent in a pane of a private server, with access to its records. */
export type Launched = Awaited<ReturnType<typeof launched>>;

/**
 * Launches an agent in a pane with the launch script under this shell. A stub agent has printed its first
 * line on return.
 */
export async function launched(
  shell: string,
  { agent = "ready.sh", argv, env = {}, before }: LaunchOptions = {},
) {
  const t = privateTmux();
  // Some systems have no dash and install bash as sh.
  const sh = join(t.home, "bin", "sh");
  mkdirSync(join(t.home, "bin"));
  symlinkSync(shell, sh);
  const paths = t.paths("audit").agent("rev");
  const bellPath = join(t.runtime, "lead-bell");
  await makeFifos([bellPath]);
  const input = {
    agentId: "rev@audit",
    cwd: t.home,
    paths,
    keptVariables: [...Object.keys(t.env), "KEPT", "TEAMS_INSTANCE", ...Object.keys(env)],
    bells: [bellPath],
    surface: "pane" as const,
  };
  await prepareLaunches([input]);
  replaceFile(paths.launchScript, launchScript(input).replaceAll("/bin/sh", sh));
  t.session();
  before?.(t);
  const bell = openFifoBell(bellPath);
  onTestFinished(() => bell.close());
  const instance = randomUUID();
  const program = argv ?? [`${AGENTS}${agent}`, paths.status, paths.ready];
  const [, ...words] = launchArgv(paths, instance, program);
  const [pane = "", outerPid = ""] = t
    .tmux(
      ...["new-window", "-d", "-t", "=work:", "-P", "-F", "#{pane_id} #{pane_pid}"],
      ...Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
      ...["-e", `TEAMS_INSTANCE=${instance}`, "-e", "KEPT=the caller's"],
      ...["--", "env", `PATH=${join(t.home, "bin")}:${t.env.PATH}`, sh, ...words],
    )
    .split(" ");
  const run = {
    t,
    tmux: t.tmux,
    paths,
    pane,
    instance,
    bell,
    bellPath,
    exit: (): ExitRecord | undefined =>
      existsSync(paths.exit) ? exitRecord.parse(JSON.parse(readFileSync(paths.exit, "utf8"))) : undefined,
    program: (): number => JSON.parse(readFileSync(paths.status, "utf8")).process.pid,
    outer: () => Number(outerPid),
    isGone: (pid: number) => startTimeOf(pid) === undefined,
    inner: () => processTable().find((row) => row.ppid === Number(outerPid))?.pid ?? 0,
    serverPid: () => Number(t.tmux("display-message", "-p", "#{pid}")),
    panes: () => t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n"),
    screen: () => t.tmux("capture-pane", "-p", "-t", pane),
    type: (line: string) => t.tmux("send-keys", "-t", pane, line, "Enter"),
  };
  if (argv === undefined) {
    await eventually("the agent's start", () => existsSync(paths.status));
    await eventually("the agent's first line", () => run.screen().includes("ready:"));
  }
  return run;
}
