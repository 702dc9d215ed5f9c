import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepareHandover } from "../../../../src/backend/iterm2/handover.ts";
import { it2Driver } from "../../../../src/backend/iterm2/it2-cli.ts";
import { iterm2Backend } from "../../../../src/backend/iterm2/iterm2-backend.ts";
import { checkIterm2 } from "../../../../src/doctor/terminal.ts";
import { prepareLaunches } from "../../../../src/launch/prepare.ts";
import { hasEnvEntry, processTable } from "../../../../src/os/process/process-table.ts";
import { run } from "../../../../src/os/process/run.ts";
import { AGENTS, end, endAll, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { iterm2 } from "../../../support/tmux/fake-iterm2.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

describe("spawning in iTerm2", () => {
  test("opens one window for each agent, shows only a script's path on the command line, and restores the focus", async () => {
    const { t, terminal, backend } = subject();
    // Together larger than a pipe's buffer; one variable alone cannot exceed 128 KiB.
    const long = "s3cret'é\n".repeat(5_000);
    const env = { A: long, B: long, C: long, D: long };
    const outcomes = await backend.spawn(
      ["ada", "bob"].map((name) => requestFor(t, name, { env, extraArgs: ["--prompt"] })),
      { kind: "team-window" },
    );
    const [ada, bob] = placesOf(outcomes);
    expect(terminal.calls().map((call) => call.replace(/(?<=\/)[^ ]*\//g, "…/"))).toEqual([
      "app get-focus",
      "window new --command /…/sh /…/iterm2.sh",
      "window new --command /…/sh /…/iterm2.sh",
      `session focus ${terminal.mine}`,
    ]);
    expect(terminal.focus()).toBe(terminal.mine);
    expect([ada?.paneId, bob?.paneId].sort()).toEqual(terminal.sessions().sort());
    expect(ada).toMatchObject({ backend: "iterm2", placement: "window" });
    expect(processTable().filter(({ pid }) => argvOf(pid).includes("s3cret"))).toEqual([]);
    // Only the files that every start leaves remain.
    expect(readdirSync(t.paths("audit").agent("ada").runtime).sort()).toEqual(["bell", "life", "ready"]);
    await endAll(backend, outcomes);
    await eventually("the windows to close", () => terminal.sessions().length === 0);
  });

  test("passes the caller's environment and the new session, but no other iTerm2 variable", async () => {
    const { t, terminal, backend } = subject();
    const outcomes = await backend.spawn([requestFor(t, "ada", { env: { MINE: "yes" } })], {
      kind: "window",
    });
    const [ada] = placesOf(outcomes);
    const { pid } = JSON.parse(readFileSync(t.paths("audit").agent("ada").status, "utf8")).process;
    for (const line of [
      "MINE=yes",
      `ITERM_SESSION_ID=w1t0p0:${ada?.paneId}`,
      "ITERM_PROFILE=Default",
      "TERM_PROGRAM=iTerm.app",
    ])
      expect([line, hasEnvEntry(pid, line)]).toEqual([line, true]);
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    expect(environment).not.toContain("ITERM2_COOKIE");
    expect(environment).not.toContain("LC_TERMINAL");
    expect(environment).toContain(`\0PATH=${terminal.env.PATH}\0`);
    await endAll(backend, outcomes);
  });

  test('refuses "here" before it creates anything, and says why', async () => {
    const { t, terminal, backend } = subject();
    await expect(backend.spawn([requestFor(t, "ada")], { kind: "here" })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("--here"),
    });
    expect(terminal.calls()).toEqual([]);
    expect(existsSync(t.paths("audit").agent("ada").run)).toBe(false);
  });

  test.each([
    ["api-off", "SPAWN_FAILED", /Not running inside iTerm2/, /Enable Python API/],
    ["other-program", "SPAWN_FAILED", /it2 app get-focus failed/, /another program/],
  ] as const)(
    "explains the problem when it2 reports %s, and leaves nothing",
    async (fault, code, text, hint) => {
      const { t, terminal, backend } = subject();
      terminal.fail(fault);
      await expect(backend.spawn([requestFor(t, "ada")], { kind: "window" })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(text),
        hint: expect.stringMatching(hint),
      });
      expect(existsSync(t.paths("audit").agent("ada").run)).toBe(false);
      expect(await checkIterm2(terminal.env)).toMatchObject([
        { level: "warn", remedy: expect.stringMatching(hint) },
      ]);
    },
  );

  test("fails with CLI_NOT_FOUND when it2 is missing", async () => {
    const { t } = subject();
    const backend = iterm2Backend({ env: { ...t.env, PATH: "/nowhere" } });
    await expect(backend.spawn([requestFor(t, "ada")], { kind: "window" })).rejects.toMatchObject({
      code: "CLI_NOT_FOUND",
      exitCode: 6,
    });
  });

  test("fails one teammate and cleans up when it2 gives an unexpected answer", async () => {
    const { t, terminal, backend } = subject();
    terminal.fail("strange");
    const [outcome] = await backend.spawn([requestFor(t, "ada")], { kind: "window" });
    const error = { code: "SPAWN_FAILED", message: "it2 window new printed unexpected output: ok" };
    expect(outcome).toMatchObject({ ok: false, name: "ada", error });
    await expect(it2Driver({ env: terminal.env }).sessions()).rejects.toMatchObject({ code: "SPAWN_FAILED" });
    const { run: directory, runtime } = t.paths("audit").agent("ada");
    expect([directory, runtime].filter(existsSync)).toEqual([]);
  });

  test("rejects another program named it2", async () => {
    const { terminal } = subject();
    const driver = it2Driver({ env: terminal.env });
    expect(await driver.version()).toBe("0.2.3");
    terminal.fail("other-program");
    await expect(driver.version()).rejects.toMatchObject({
      code: "SPAWN_FAILED",
      message: "it2 --version printed unexpected output: it2 version v0.0.1",
    });
  });

  test("keeps the agents running when the focus cannot be restored", async () => {
    const { t, terminal, backend } = subject();
    terminal.fail("keeps-focus");
    const outcomes = await backend.spawn([requestFor(t, "ada")], { kind: "window" });
    expect(terminal.focus()).toBe(placesOf(outcomes)[0]?.paneId);
    await endAll(backend, outcomes);
  });

  test("times out when it2 hangs", async () => {
    const { terminal } = subject();
    terminal.fail("hangs");
    const hasty: typeof run = (file, args, options) => run(file, args, { ...options, timeoutMs: 50 });
    await expect(it2Driver({ env: terminal.env, run: hasty }).sessions()).rejects.toMatchObject({
      code: "TIMEOUT",
      exitCode: 5,
    });
  });
});

describe("an iTerm2 window", () => {
  test("keeps a crashed agent's last lines until it is closed", async () => {
    const { t, terminal, backend } = subject();
    const outcomes = await backend.spawn([requestFor(t, "ada")], { kind: "window" });
    const [ada] = placesOf(outcomes);
    if (ada === undefined) throw new Error("no place");
    const { exit, status } = t.paths("audit").agent("ada");
    const ready = `ready: ${ada.instance}`;
    await eventually("its output in the window", async () =>
      (await backend.capture(ada, 10))?.includes(ready),
    );
    process.kill(JSON.parse(readFileSync(status, "utf8")).process.pid, "SIGSEGV");
    await eventually("the exit record", () => existsSync(exit));
    expect(JSON.parse(readFileSync(exit, "utf8"))).toMatchObject({
      code: 139,
      lastLines: [ready],
    });
    await eventually("the hint about its keys", async () =>
      (await backend.capture(ada, 10))?.some((line) => line.includes("q + Enter closes this pane")),
    );
    expect(await backend.present([ada])).toEqual(new Set([ada.instance]));
    await end(ada);
    await backend.close([ada]);
    expect(await backend.capture(ada, 10)).toBeUndefined();
    expect(terminal.sessions()).toEqual([]);
  });

  test("is closed without a confirmation even if its profile keeps sessions open", async () => {
    const { t, terminal, backend } = subject(500);
    terminal.fail("keeps");
    const outcomes = await backend.spawn(
      [requestFor(t, "ada"), requestFor(t, "mute", { argv: [`${AGENTS}silent.sh`] })],
      { kind: "window" },
    );
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false]);
    expect(terminal.sessions()).toHaveLength(1);
    const [ada] = outcomes;
    if (!ada?.ok) throw new Error("no place");
    await end(ada.place);
    expect(terminal.sessions()).toHaveLength(1);
    await backend.close([ada.place]);
    expect(terminal.sessions()).toEqual([]);
    expect(terminal.asked()).toEqual([]);
  });

  test("gets the focus, unless it has another process now", async () => {
    const { t, terminal, backend } = subject();
    const outcomes = await backend.spawn([requestFor(t, "ada")], { kind: "window" });
    const [ada] = placesOf(outcomes);
    if (ada === undefined) throw new Error("no place");
    expect(await backend.focus?.(ada)).toBe(true);
    expect(terminal.focus()).toBe(ada.paneId);
    expect(await backend.focus?.({ ...ada, paneProcStart: "1" })).toBe(false);
    await endAll(backend, outcomes);
    expect(await backend.focus?.(ada)).toBe(false);
  });

  test("closes with its process when iTerm2 cannot be reached", async () => {
    const { t, terminal, backend } = subject();
    const [ada] = placesOf(await backend.spawn([requestFor(t, "ada")], { kind: "window" }));
    if (ada === undefined) throw new Error("no place");
    terminal.fail("api-off");
    await end(ada);
    await backend.close([ada]);
    expect(await backend.present([ada])).toEqual(new Set());
    await eventually("the window to close", () => terminal.sessions().length === 0);
  });
});

describe("the iTerm2 launch line", () => {
  test("does nothing with a truncated script, or after its starter has gone", async () => {
    const { t } = subject();
    const request = requestFor(t, "ada");
    await prepareLaunches([{ ...request, keptVariables: [], surface: "pane" }]);
    for (const words of [`export A=1\nexec touch ${t.home}/run-by-half\n`, ""]) {
      const handover = await prepareHandover(request);
      const { runtime } = request.paths;
      const [shell = "", ...args] = handover.command;
      const ended = run(shell, args, { env: t.env });
      // Now the shell has opened the FIFO and waits for the rest.
      await eventually("the shell to read", () =>
        processTable().some(({ pid, ppid }) => argvOf(pid) === "cat\0" && argvOf(ppid).includes(runtime)),
      );
      writeFileSync(join(runtime, "words"), words);
      handover.close();
      expect(await ended).toMatchObject({ code: 1 });
      const late = await run(shell, args, { env: t.env });
      expect(late.code).not.toBe(0);
    }
    expect(existsSync(join(t.home, "run-by-half"))).toBe(false);
  });
});

test("checkIterm2 › reports only inside iTerm2, and not inside tmux", async () => {
  const { t, terminal } = subject();
  expect(await checkIterm2({ PATH: t.env.PATH })).toEqual([]);
  expect(await checkIterm2({ ...terminal.env, TMUX: "/tmp/x,1,0" })).toEqual([]);
  expect(await checkIterm2(terminal.env)).toMatchObject([
    { level: "ok", text: expect.stringContaining("it2 0.2.3 works") },
  ]);
  expect(await checkIterm2({ ...terminal.env, PATH: "/nowhere" })).toMatchObject([{ level: "ok" }]);
});

function argvOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // The process ended between listing and reading.
    return "";
  }
}

function subject(readyTimeoutMs = 240_000) {
  const own = privateTmux();
  const terminal = iterm2(own);
  const t = { ...own, env: { ...terminal.env, PATH: terminal.env.PATH ?? "" } };
  return { t, terminal, backend: iterm2Backend({ env: terminal.env, readyTimeoutMs }) };
}
