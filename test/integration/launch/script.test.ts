import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { prepareLaunches } from "../../../src/launch/prepare.ts";
import { launchArgv, launchScript } from "../../../src/launch/script.ts";
import { processTable, signalProcess } from "../../../src/os/process-table.ts";
import { replaceFile } from "../../../src/os/replace.ts";
import { type ExitRecord, exitRecord } from "../../../src/schema/status.ts";
import { makeFifos, openFifoBell } from "../../../src/wakeup/fifo-bell.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { eventually } from "../../support/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux-server.ts";

const AGENT = fileURLToPath(new URL("../../fixtures/agents/ready.sh", import.meta.url));
const SHELLS = ["/bin/dash", "/bin/bash"].filter((shell) => existsSync(shell));

describe.each(SHELLS)("The launch script in %s, called sh", (shell) => {
  test.each<[string, (run: Run) => void, number]>([
    ["its program exits with 3", (run) => run.type("exit 3"), 3],
    ["its program exits with 255", (run) => run.type("exit 255"), 255],
    ["its program is killed", (run) => signalProcess(run.program(), "SIGKILL"), 137],
    ["its program is terminated", (run) => signalProcess(run.program(), "SIGTERM"), 143],
    ["its program crashes", (run) => signalProcess(run.program(), "SIGSEGV"), 139],
    ["somebody types Ctrl-C", (run) => run.tmux("send-keys", "-t", run.pane, "C-c"), 130],
    ["its pane is killed", (run) => run.tmux("kill-pane", "-t", run.pane), 129],
    ["its window is killed", (run) => run.tmux("kill-window", "-t", run.pane), 129],
    ["its session is killed", (run) => run.tmux("kill-session", "-t", "=work"), 129],
    ["its pane is respawned", (run) => run.tmux("respawn-pane", "-k", "-t", run.pane, "--", "/bin/cat"), 129],
    ["the tmux server is killed", (run) => run.tmux("kill-server"), 129],
    ["the tmux server is killed with SIGKILL", (run) => signalProcess(run.serverPid(), "SIGKILL"), 129],
    ["the outer script is terminated", (run) => signalProcess(run.outer(), "SIGTERM"), 129],
  ])("records and rings when %s", async (_, end, code) => {
    const run = await start(shell);
    end(run);
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    expect(run.exit()).toMatchObject({ instance: run.instance, code });
    expect(Math.abs((run.exit()?.at ?? 0) - Date.now())).toBeLessThan(10_000);
  });

  test("closes the pane of a program that ends well", async () => {
    const run = await start(shell);
    run.type("exit 0");
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    expect(run.exit()).toMatchObject({ code: 0, lastLines: [] });
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
  });

  test("records the last fifty lines of a crash, whatever they hold (S34)", async () => {
    const run = await start(shell, [
      "/bin/sh",
      "-c",
      `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i"; done; printf 'a "quoted" \\\\ back\\tslash é😀\\n'; exit 7`,
    ]);
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    const lines = run.exit()?.lastLines ?? [];
    expect(lines).toHaveLength(50);
    expect(lines.at(-1)).toMatch(/^a "quoted" \\ back +slash é😀$/);
    expect(lines.at(-2)).toBe("line 200");
  });

  test("holds a crashed pane, starts it again on r and Enter, closes it on q and Enter", async () => {
    const run = await start(shell);
    run.type("exit 3");
    await eventually("the epitaph", () => run.screen().includes("r + Enter starts it again"));
    expect(run.screen()).toContain("[ended with exit code 3]");
    const first = run.program();
    // Half-typed text is no answer.
    run.type("quit");
    run.type("r");
    await eventually("another start", () => run.program() !== first && !existsSync(run.paths.exit));
    expect(readFileSync(`/proc/${run.program()}/cmdline`, "utf8")).toContain("ready.sh");
    run.type("exit 4");
    await eventually("the second crash", () => run.exit()?.code === 4);
    await eventually("the second epitaph", () => run.screen().includes("[ended with exit code 4]"));
    run.type("q");
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
    expect(run.exit()?.code).toBe(4);
  });

  test.each([
    ["has milliseconds", "", 1],
    ["has none, as on macOS", 'case $1 in *N) echo 1700000000N ;; *) exec /bin/date "$@" ;; esac', 1_000],
    ["refuses the format", 'case $1 in *N) exit 1 ;; *) exec /bin/date "$@" ;; esac', 1_000],
  ])("writes down when it ended, where date %s", async (_what, date, unit) => {
    const before = Date.now();
    const run = await start(shell, ["/bin/sh", "-c", "exit 3"], ({ home }) => {
      if (date !== "") writeFileSync(join(home, "bin", "date"), `#!/bin/sh\n${date}\n`, { mode: 0o700 });
    });
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    const at = run.exit()?.at ?? 0;
    expect(at).toBeGreaterThanOrEqual(Math.floor(before / unit) * unit);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  test("leaves the alternate screen of a crash and shows what was on it", async () => {
    const run = await start(shell, [
      "/bin/sh",
      "-c",
      `printf '\\033[?1049h\\033[2J\\033[Hfatal: on the other screen\\n'; exit 9`,
    ]);
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    expect(run.exit()?.lastLines).toContain("fatal: on the other screen");
    await eventually("the epitaph", () => run.screen().includes("r + Enter"));
    expect(run.tmux("display-message", "-p", "-t", run.pane, "#{alternate_on}")).toBe("0");
    expect(run.screen()).toContain("fatal: on the other screen");
  });

  test("records a crash although the terminal's output is stopped", async () => {
    const run = await start(shell);
    run.tmux("send-keys", "-t", run.pane, "C-s");
    signalProcess(run.program(), "SIGKILL");
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    expect(run.exit()?.code).toBe(137);
  });

  test("is not fooled by Ctrl-Z", async () => {
    const run = await start(shell);
    run.tmux("send-keys", "-t", run.pane, "C-z");
    run.type("still here");
    await eventually("an answer", () => run.screen().includes("got: still here"));
    expect(run.exit()).toBeUndefined();
  });

  test("says by its lifeline that it was killed itself, and its program ends with the terminal", async () => {
    const run = await start(shell);
    const lifeline = watchLifeline(run.paths.lifeline);
    onTestFinished(() => lifeline.close());
    const program = run.program();
    signalProcess(run.inner(), "SIGKILL");
    await lifeline.ended;
    await eventually("the program's end", () => !processTable().some((row) => row.pid === program));
    expect(run.exit()).toBeUndefined();
  });

  test("drops what the server's environment adds to the caller's (S11, S12)", async () => {
    const run = await start(shell, [AGENT], (t) => {
      t.tmux("set-environment", "-g", "CLAUDECODE", "1");
      t.tmux("set-environment", "-g", "STALE", "line one\nexport HOME=/nowhere\n'; touch pwned '");
      t.tmux("set-environment", "-g", "KEPT", "the server's");
    });
    const environment = readFileSync(`/proc/${run.program()}/environ`, "utf8").split("\0");
    const names = environment.map((entry) => entry.split("=")[0]);
    expect(names).not.toContain("CLAUDECODE");
    expect(names).not.toContain("STALE");
    expect(names).toEqual(expect.arrayContaining(["TMUX", "TMUX_PANE", "TERM"]));
    expect(environment).toContain("KEPT=the caller's");
    expect(environment).toContain(`HOME=${run.t.home}`);
  });

  test("brings no deleted team back", async () => {
    const run = await start(shell);
    const program = run.program();
    rmSync(run.paths.run, { recursive: true });
    signalProcess(program, "SIGTERM");
    expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
    expect(existsSync(run.paths.run)).toBe(false);
  });
});

type Run = Awaited<ReturnType<typeof start>>;

async function start(shell: string, argv: string[] = [], before: (t: PrivateTmux) => void = () => undefined) {
  const t = privateTmux();
  // The way a system without dash has it: bash by the name of sh.
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
    keptVariables: [...Object.keys(t.env), "KEPT", "TEAMS_INSTANCE"],
    bells: [bellPath],
    surface: "pane" as const,
  };
  await prepareLaunches([input]);
  replaceFile(paths.launchScript, launchScript(input).replaceAll("/bin/sh", sh));
  const { pane: first } = t.session();
  before(t);
  const bell = openFifoBell(bellPath);
  onTestFinished(() => bell.close());
  const instance = randomUUID();
  const program = argv.length > 0 && argv[0] !== AGENT ? argv : [AGENT, paths.status, paths.ready];
  const [, ...words] = launchArgv(paths, instance, program);
  const [pane = "", outerPid = ""] = t
    .tmux(
      ...["new-window", "-d", "-t", "=work:", "-P", "-F", "#{pane_id} #{pane_pid}"],
      ...["-e", `TEAMS_INSTANCE=${instance}`, "-e", "KEPT=the caller's"],
      ...["--", "env", `PATH=${join(t.home, "bin")}:${t.env.PATH}`, sh, ...words],
    )
    .split(" ");
  const run = {
    t,
    tmux: t.tmux,
    paths,
    pane,
    first,
    instance,
    bell,
    exit: (): ExitRecord | undefined =>
      existsSync(paths.exit) ? exitRecord.parse(JSON.parse(readFileSync(paths.exit, "utf8"))) : undefined,
    program: (): number => JSON.parse(readFileSync(paths.status, "utf8")).process.pid,
    outer: () => Number(outerPid),
    inner: () => processTable().find((row) => row.ppid === Number(outerPid))?.pid ?? 0,
    serverPid: () => Number(t.tmux("display-message", "-p", "#{pid}")),
    panes: () => t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n"),
    screen: () => t.tmux("capture-pane", "-p", "-t", pane),
    type: (line: string) => t.tmux("send-keys", "-t", pane, line, "Enter"),
  };
  if (program[0] === AGENT) {
    await eventually("the agent's start", () => existsSync(paths.status));
    await eventually("its first words", () => run.screen().includes("ready:"));
  }
  return run;
}
