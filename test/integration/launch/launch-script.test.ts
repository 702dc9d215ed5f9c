import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemCode } from "../../../src/errors.ts";
import { hasEnvEntry, processTable, signalProcess } from "../../../src/os/process/process-table.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { type Launched, launched, SHELLS } from "../../support/backend/launched-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";
import type { PrivateTmux } from "../../support/tmux/private-tmux.ts";

describe.each(SHELLS)("launch script run by %s as sh", (shell) => {
  test("closes the pane if the program exits with 0", async () => {
    const run = await launched(shell);
    run.type("exit 0");
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()).toMatchObject({ code: 0, lastLines: [] });
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
  });

  test("ends even if a bell is full because its reader hangs", async () => {
    const run = await launched(shell);
    fill(run.bellPath);
    run.type("exit 0");
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
    expect(run.exit()).toMatchObject({ code: 0 });
    const hung = processTable().filter(({ pid }) => hasEnvEntry(pid, `TEAMS_INSTANCE=${run.instance}`));
    expect(hung).toEqual([]);
  });

  test("rings even if dd has no nonblock flag (macOS)", async () => {
    const noFlag = ({ home, paths }: PrivateTmux) => {
      writeFileSync(join(home, "bin", "dd"), "#!/bin/sh\nexit 1\n", { mode: 0o700 });
      // As on a busy machine: the terminal ends before the background process has run its first command.
      const { launchScript } = paths("audit").agent("rev");
      const late = readFileSync(launchScript, "utf8").replace(
        /^ {4}\($/m,
        "$&\nwhile kill -0 $$$$ 2>/dev/null; do sleep 0.02; done",
      );
      expect(late).toContain("(\nwhile kill -0 $$ ");
      writeFileSync(launchScript, late);
    };
    const run = await launched(shell, { before: noFlag });
    run.type("exit 0");
    expect(await run.bell.wait()).toBe("rung");
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
  });

  test("records the last 50 lines of a crash, with any characters (S34)", async () => {
    const run = await launched(shell, {
      argv: [
        "/bin/sh",
        "-c",
        `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i"; done; printf 'a "quoted" \\\\ back\\tslash é😀\\n'; exit 7`,
      ],
    });
    expect(await run.bell.wait()).toBe("rung");
    const lines = run.exit()?.lastLines ?? [];
    expect(lines).toHaveLength(50);
    expect(lines.at(-1)).toMatch(/^a "quoted" \\ back +slash é😀$/);
    expect(lines.at(-2)).toBe("line 200");
  });

  test("redacts secrets of the environment in the recorded lines (S75)", async () => {
    const secrets = { SHORT_KEY: "open sesame", long_token: 'open sesame \\ "x"', DB_PASSWORD: "short" };
    const argv = ["/bin/sh", "-c", 'echo "<$long_token> <$SHORT_KEY$SHORT_KEY> <$DB_PASSWORD>"; exit 7'];
    const run = await launched(shell, { argv, env: secrets });
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()?.lastLines.at(-1)).toBe("<[secret]> <[secret][secret]> <short>");
  });

  test("redacts the credentials of proxies in the recorded lines", async () => {
    const env = {
      HTTPS_PROXY: "http://ada:hunter2hunter2@proxy.test:3128",
      all_proxy: "a:b@proxy.test:1",
      NO_PROXY: "localhost",
    };
    const argv = ["/bin/sh", "-c", 'echo "<$HTTPS_PROXY> <hunter2hunter2> <$all_proxy> <$NO_PROXY>"; exit 7'];
    const run = await launched(shell, { argv, env });
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()?.lastLines.at(-1)).toBe("<http://[secret]> <[secret]> <[secret]> <localhost>");
  });

  test("keeps a crashed pane open, restarts on r and Enter, and closes on q and Enter", async () => {
    const run = await launched(shell);
    run.type("exit 3");
    await eventually("the end message", () => run.screen().includes("r + Enter starts it again"));
    expect(run.screen()).toContain("[ended with exit code 3]");
    const first = run.program();
    // Any line other than r or q is ignored.
    run.type("quit");
    run.type("r");
    await eventually("another start", () => run.program() !== first && !existsSync(run.paths.exit));
    expect(readFileSync(`/proc/${run.program()}/cmdline`, "utf8")).toContain("ready.sh");
    run.type("exit 4");
    await eventually("the second crash", () => run.exit()?.code === 4);
    await eventually("the second end message", () => run.screen().includes("[ended with exit code 4]"));
    const second = run.program();
    run.type("r");
    await eventually("a third start", () => run.program() !== second && !existsSync(run.paths.exit));
    process.kill(run.program(), "SIGKILL");
    await eventually("the third end message", () => run.screen().includes("[ended by SIGKILL]"));
    await eventually("its record", () => run.exit()?.code === 137);
    expect(run.exit()?.lastLines.join("\n")).not.toContain("[ended by");
    run.type("q");
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
    expect(run.exit()?.code).toBe(137);
  });

  /** An agent whose launch script cannot record its end while `full` exists, as on a full disk. */
  async function launchedOnFullDisk(): Promise<{ readonly run: Launched; readonly full: string }> {
    let full = "";
    const run = await launched(shell, {
      before: ({ home }) => {
        full = join(home, "full");
        writeFileSync(full, "");
        const text = `#!/bin/sh\ncase $3 in */exit.json) [ ! -e "${full}" ] || exit 1 ;; esac\nexec /bin/mv "$@"\n`;
        writeFileSync(join(home, "bin", "mv"), text, { mode: 0o700 });
      },
    });
    return { run, full };
  }

  test("rings even if it cannot record a crash, and records it later", async () => {
    const { run, full } = await launchedOnFullDisk();
    run.type("exit 3");
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()).toBeUndefined();
    rmSync(full);
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()).toMatchObject({ code: 3, instance: run.instance });
  });

  test("drops an unrecorded crash after a restart, and leaves no process when its pane closes", async () => {
    const { run, full } = await launchedOnFullDisk();
    const inner = run.inner();
    const retries = () => processTable().filter(({ ppid, pid }) => ppid === inner && pid !== run.program());
    run.type("exit 3");
    await eventually("the retry", () => retries().length === 1);
    const before = run.program();
    run.type("r");
    await eventually("another start", () => run.program() !== before);
    expect(retries()).toEqual([]);
    rmSync(full);
    run.type("exit 4");
    await eventually("the second record", () => run.exit()?.code === 4);
    run.type("r");
    await eventually("a third start", () => !existsSync(run.paths.exit));
    writeFileSync(full, "");
    run.type("exit 5");
    const [retry] = await eventually("the second retry", () =>
      retries().length === 1 ? retries() : undefined,
    );
    run.type("q");
    await eventually("the pane's end", () => !run.panes().includes(run.pane));
    await eventually("the end of the retry", () => run.isGone(retry?.pid ?? 0));
  });

  test("restores the interrupt keys for a restarted agent, even if stty sane does not (macOS)", async () => {
    const sane = "icrnl opost onlcr isig icanon echo";
    const stty = `#!/bin/sh\n[ "$1" = sane ] && { shift; set -- ${sane} "$@"; }\nexec /bin/stty "$@"\n`;
    const run = await launched(shell, {
      before: ({ home }) => writeFileSync(join(home, "bin", "stty"), stty, { mode: 0o700 }),
    });
    const first = run.program();
    run.type("exit 3");
    await eventually("the prompt in the pane", () => run.screen().includes("q + Enter closes this pane"));
    run.type("what now?");
    await eventually("the second prompt", () => run.screen().includes("Type r or q, then Enter."));
    // One Ctrl-C more than was needed to end it.
    run.tmux("send-keys", "-t", run.pane, "C-c", "r", "Enter");
    await eventually("another start", () => run.program() !== first);
    run.tmux("send-keys", "-t", run.pane, "C-c");
    await eventually("its end by Ctrl-C", () => run.exit()?.signal === "SIGINT");
  });

  test.each([
    ["supports milliseconds", "", 1],
    ["has seconds only (macOS)", 'case $1 in *N) echo 1700000000N ;; *) exec /bin/date "$@" ;; esac', 1_000],
    ["refuses the format", 'case $1 in *N) exit 1 ;; *) exec /bin/date "$@" ;; esac', 1_000],
  ])("records the time of the end if date %s", async (_what, date, unit) => {
    const before = Date.now();
    const run = await launched(shell, {
      argv: ["/bin/sh", "-c", "exit 3"],
      before: ({ home }) => {
        if (date !== "") writeFileSync(join(home, "bin", "date"), `#!/bin/sh\n${date}\n`, { mode: 0o700 });
      },
    });
    expect(await run.bell.wait()).toBe("rung");
    const at = run.exit()?.at ?? 0;
    expect(at).toBeGreaterThanOrEqual(Math.floor(before / unit) * unit);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  test("leaves the alternate screen after a crash and shows its content", async () => {
    const run = await launched(shell, {
      argv: ["/bin/sh", "-c", `printf '\\033[?1049h\\033[2J\\033[Hfatal: on the other screen\\n'; exit 9`],
    });
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()?.lastLines).toContain("fatal: on the other screen");
    await eventually("the end message", () => run.screen().includes("r + Enter"));
    expect(run.tmux("display-message", "-p", "-t", run.pane, "#{alternate_on}")).toBe("0");
    expect(run.screen()).toContain("fatal: on the other screen");
  });

  test("records a crash while the terminal's output is stopped", async () => {
    const run = await launched(shell);
    run.tmux("send-keys", "-t", run.pane, "C-s");
    signalProcess(run.program(), "SIGKILL");
    expect(await run.bell.wait()).toBe("rung");
    expect(run.exit()?.code).toBe(137);
  });

  test("ignores Ctrl-Z", async () => {
    const run = await launched(shell);
    run.tmux("send-keys", "-t", run.pane, "C-z");
    run.type("still here");
    await eventually("an answer", () => run.screen().includes("got: still here"));
    expect(run.exit()).toBeUndefined();
  });

  test("breaks its lifeline when the script itself is killed, and its program ends with the terminal", async () => {
    const run = await launched(shell);
    const lifeline = watchLifeline(run.paths.lifeline);
    onTestFinished(() => lifeline.close());
    const program = run.program();
    signalProcess(run.inner(), "SIGKILL");
    await lifeline.ended;
    await eventually("the program's end", () => !processTable().some((row) => row.pid === program));
    expect(run.exit()).toBeUndefined();
  });

  test("drops variables that only the tmux server's environment has (S11, S12)", async () => {
    const run = await launched(shell, {
      before: (t) => {
        t.tmux("set-environment", "-g", "CLAUDECODE", "1");
        t.tmux("set-environment", "-g", "STALE", "line one\nexport HOME=/nowhere\n'; touch pwned '");
        t.tmux("set-environment", "-g", "KEPT", "the server's");
      },
    });
    const environment = readFileSync(`/proc/${run.program()}/environ`, "utf8").split("\0");
    const names = environment.map((entry) => entry.split("=")[0]);
    expect(names).not.toContain("CLAUDECODE");
    expect(names).not.toContain("STALE");
    expect(names).toEqual(expect.arrayContaining(["TMUX", "TMUX_PANE", "TERM"]));
    expect(environment).toContain("KEPT=the caller's");
    expect(environment).toContain(`HOME=${run.t.home}`);
  });

  test("does not recreate a deleted team", async () => {
    const run = await launched(shell);
    const program = run.program();
    rmSync(run.paths.run, { recursive: true });
    signalProcess(program, "SIGTERM");
    expect(await run.bell.wait()).toBe("rung");
    expect(existsSync(run.paths.run)).toBe(false);
  });
});

/** Writes into a FIFO until it accepts no more. */
function fill(path: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (const part of [Buffer.alloc(4096), Buffer.alloc(1)]) while (accepts(fd, part));
  } finally {
    closeSync(fd);
  }
}

function accepts(fd: number, bytes: Buffer): boolean {
  try {
    return writeSync(fd, bytes) > 0;
  } catch (error) {
    if (systemCode(error) === "EAGAIN") return false;
    throw error;
  }
}
