import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Hooks, outputText } from "../../../src/agent/hooks/hooks.ts";
import { type HookEvent, hooksSetting } from "../../../src/agent/hooks/settings.ts";
import type { Env } from "../../../src/os/env.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { expireAfter } from "../../support/timing/held-timer.ts";

interface Given {
  readonly event?: HookEvent;
  readonly env?: Env;
  readonly timeout?: number;
}

function hooksOf(commands: readonly string[], { event = "Stop", env = {}, timeout = 600 }: Given = {}) {
  const cwd = realpathSync(temporaryDirectory());
  const notices: string[] = [];
  const hooks = commands.map((command) => ({ type: "command", command, timeout }));
  const runner = new Hooks({
    setting: hooksSetting.parse({ [event]: [{ hooks }] }),
    sessionId: "the-session",
    transcript: "/somewhere/the-session.jsonl",
    cwd,
    env: { PATH: process.env.PATH, ...env },
    onNotice: (of, text) => notices.push(`${of}: ${text}`),
  });
  const run = async (input = {}, signal = new AbortController().signal) => {
    const { outputs, ...outcome } = await runner.run(event, input, signal);
    return { ...outcome, stdout: outputText(outputs) };
  };
  return { cwd, notices, run, file: (name: string) => readFileSync(join(cwd, name), "utf8") };
}

function isAlive(pid: number): boolean {
  return processTable().some((row) => row.pid === pid);
}

describe("Hooks.run", () => {
  it("runs the hook in the agent's directory with the event on stdin", async () => {
    const { run, file, cwd } = hooksOf(["cat > got; pwd > here; echo $CLAUDE_PROJECT_DIR >> here"]);
    expect(await run({ agent_type: "Explore" })).toEqual({ stdout: "" });
    expect(JSON.parse(file("got"))).toEqual({
      session_id: "the-session",
      transcript_path: "/somewhere/the-session.jsonl",
      cwd,
      hook_event_name: "Stop",
      agent_type: "Explore",
    });
    expect(file("here")).toBe(`${cwd}\n${cwd}\n`);
  });

  it("replaces lone surrogates: a guard that cannot parse the event would check nothing", async () => {
    const { run, file } = hooksOf(["cat > got"]);
    await run({ tool_input: { "k\ud83d": "echo \ude80" } });
    expect(file("got")).not.toMatch(/\\ud[89a-f]/);
    expect(JSON.parse(file("got"))).toMatchObject({ tool_input: { "k\ufffd": "echo \ufffd" } });
  });

  it("accepts a hook that closes stdin without reading a large event", async () => {
    const { run, notices } = hooksOf(["exec 0<&-; echo done"]);
    expect(await run({ tool_input: "x".repeat(4_000_000) })).toEqual({ stdout: "done" });
    expect(notices).toEqual([]);
  });

  it.each<[string, string, (cwd: string) => void]>([
    ["cannot start because its directory is missing", "exit 0", (cwd) => rmSync(cwd, { recursive: true })],
    ["is not found", "no-such-guard", () => undefined],
    ["is not executable", "./guard", (cwd) => writeFileSync(join(cwd, "guard"), "", { mode: 0o644 })],
    ["is ended by a signal", "kill -9 $$", () => undefined],
    ["runs a missing script", `${process.execPath} missing.js`, () => undefined],
    [
      "imports a missing module",
      `${process.execPath} guard.mjs`,
      (cwd) => writeFileSync(join(cwd, "guard.mjs"), 'import "./x.mjs"'),
    ],
    ["cannot enter its directory", "cd missing || exit 1", () => undefined],
    ["is not found, but exits with another code", "no-such-guard || exit 1", () => undefined],
  ])("refuses a tool call if its guard %s; another event continues", async (_, command, prepare) => {
    for (const [event, stopped] of [
      ["PreToolUse", expect.stringContaining("which counts as a refusal")],
      ["PostToolUse", undefined],
    ] as const) {
      const { cwd, run } = hooksOf([command], { event });
      prepare(cwd);
      expect((await run()).stopped).toEqual(stopped);
    }
  });

  // Linux limits a word to 128 KiB, macOS all words together to 1 MiB.
  const long = "x".repeat(2_000_000);
  it.each<[string, string, Env, object]>([
    ["environment", "exit 0", { LONG: long }, {}],
    ["own text", `exit 0 # ${long}`, {}, {}],
    ["input in the arguments of its program", 'env true "$(cat)"', {}, { tool_input: { command: long } }],
  ])("refuses a tool call if its guard cannot start: its %s is too long", async (_, command, env, input) => {
    const { run, notices } = hooksOf([command], { event: "PreToolUse", env });
    expect((await run(input)).stopped).toContain("which counts as a refusal");
    expect(notices).toHaveLength(1);
  });

  it.each([
    ["exit 1", 600, "exit 1"],
    ["sleep 600", 0.3, "timeout"],
  ])("lets a tool call continue after the failure of its guard: %s", async (command, timeout, reason) => {
    const { run, notices } = hooksOf([command], { event: "PreToolUse", timeout });
    expect((await run()).stopped).toBeUndefined();
    expect(notices).toEqual([expect.stringMatching(new RegExp(`error.*${reason}`))]);
  });

  it("starts the hook without a terminal or an API key, and redacts secrets it prints (S75)", async () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-secret-1", DEPLOY_TOKEN: "token-secret-2" };
    const { run, notices } = hooksOf(
      ['echo "$ANTHROPIC_API_KEY$DEPLOY_TOKEN"; (: < /dev/tty) 2>/dev/null && echo a terminal; exit 0'],
      { env },
    );
    expect(await run()).toEqual({ stdout: "[secret]" });
    const failing = hooksOf(['echo "$DEPLOY_TOKEN" >&2; exit 2', 'echo "$DEPLOY_TOKEN" >&2; exit 1'], {
      env,
    });
    expect(await failing.run()).toEqual({ stopped: "[secret]", stdout: "" });
    expect([...notices, ...failing.notices].join()).not.toContain("token-secret-2");
  });

  it("kills a hanging hook and its children at the timeout", async () => {
    const child = "sh -c 'trap \"\" TERM; touch begun; sleep 600; touch late'";
    const { run, notices, cwd } = hooksOf([`echo $$ > pid; ${child} & wait`], { timeout: 0.3 });
    const begun = () => eventually("the child", () => existsSync(join(cwd, "begun")));
    expect(await expireAfter(300, begun, () => run())).toEqual({ stdout: "" });
    expect(notices).toEqual([expect.stringMatching(/^Stop: error while running \(echo .*timeout/)]);
    const group = -Number(readFileSync(join(cwd, "pid"), "utf8"));
    await eventually("the end of its process group", () => {
      try {
        process.kill(group, 0);
        return false;
      } catch {
        return true;
      }
    });
    expect(existsSync(join(cwd, "late"))).toBe(false);
  });

  it("kills descendants in other sessions when it ends a hook", async () => {
    const stray = `sh -c 'trap "" TERM HUP; echo $$ > stray; sleep 300; touch late'`;
    const { run, file, cwd } = hooksOf([`(setsid ${stray} >/dev/null 2>&1 &); sleep 300`]);
    const turn = new AbortController();
    const running = run({}, turn.signal);
    await eventually("the stray process", () => existsSync(join(cwd, "stray")) && file("stray") !== "");
    turn.abort();
    expect(await running).toEqual({ stdout: "" });
    expect(isAlive(Number(file("stray")))).toBe(false);
    expect(existsSync(join(cwd, "late"))).toBe(false);
  });

  it("ends the hook when the turn is interrupted", async () => {
    const { run, cwd } = hooksOf(["touch begun; sleep 300"]);
    const turn = new AbortController();
    const running = run({}, turn.signal);
    await eventually("the start of the hook", () => existsSync(join(cwd, "begun")));
    turn.abort();
    expect(await running).toEqual({ stdout: "" });
  });

  it("starts no hook after an interrupt, and reports none", async () => {
    const { run, notices, cwd } = hooksOf(["touch begun"], { event: "PostToolUse" });
    expect(await run({}, AbortSignal.abort())).toEqual({ stdout: "" });
    expect([existsSync(join(cwd, "begun")), notices]).toEqual([false, []]);
  });

  it("limits the output it reads and treats a truncated JSON answer as a refusal", async () => {
    const xs = (count: number): string => `head -c ${count} /dev/zero | tr '\\0' x`;
    const words = await hooksOf([xs(3_000_000)]).run();
    expect([words.stopped, words.stdout.length < 20_000]).toEqual([undefined, true]);
    const long = await hooksOf([
      `printf '{"decision":"block","reason":"no ';${xs(500_000)}; echo '"}'`,
    ]).run();
    expect(long.stopped).toMatch(/^no xxx/);
    const cut = await hooksOf([`printf '{"decision":"block","reason":"';${xs(3_000_000)}; echo '"}'`]).run();
    expect(cut.stopped).toContain("counts as a refusal");
  });

  it("passes the event's name to the hook in TEAMS_HOOK", async () => {
    const outer = hooksOf(['echo "$TEAMS_HOOK"']);
    expect(await outer.run()).toEqual({ stdout: "Stop" });
  });
});

describe("Hooks.run with several hooks", () => {
  it("runs them in parallel and combines their output", async () => {
    const meet = (own: string, other: string): string =>
      `touch ${own}; until [ -e ${other} ]; do sleep 0.02; done; echo ${own}`;
    const { run, notices } = hooksOf([
      meet("a", "b"),
      meet("b", "a"),
      "echo one >&2; exit 2",
      "echo two >&2; exit 2",
      "exit 3",
    ]);
    expect(await run()).toEqual({ stopped: "one\ntwo", stdout: "a\nb" });
    expect(notices).toEqual([
      "Stop: stopped the action: one",
      "Stop: stopped the action: two",
      "Stop: non-blocking error (exit 3): exit code 3",
    ]);
  });

  it.each([
    [["allow", "deny", "ask"], "deny"],
    [["allow", "ask"], "ask"],
    [["allow"], "allow"],
  ])("combines the permissions %j into %s", async (behaviors, expected) => {
    const commands = behaviors.map((each) => `echo '{"permissionDecision":"${each}","reason":"${each}"}'`);
    const { run } = hooksOf(commands, { event: "PreToolUse" });
    expect((await run()).permission).toEqual({ behavior: expected, reason: expected });
  });

  it("ends the agent if one hook does", async () => {
    const { run } = hooksOf(["exit 0", `echo '{"continue":false,"stopReason":"enough"}'`]);
    expect(await run()).toEqual({ stopped: "enough", endsAgent: true, stdout: "" });
  });
});
