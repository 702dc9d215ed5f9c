import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BackgroundTasks, type TaskNotice } from "../../../../src/agent/background/background-tasks.ts";
import { outputDirectory } from "../../../../src/agent/background/output-file.ts";
import type { ToolContext, ToolResult } from "../../../../src/agent/tool.ts";
import { taskOutputTool, taskStopTool } from "../../../../src/agent/tools/background-tasks.ts";
import { bashTool } from "../../../../src/agent/tools/bash.ts";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const SECRET = "sk-very-secret-value";

let cwd: string;
let background: BackgroundTasks;
let notices: TaskNotice[];
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-background-"));
  notices = [];
  background = new BackgroundTasks({ cwd, secrets: [SECRET], onEnd: (notice) => notices.push(notice) });
});
afterEach(async () => {
  await background.endAll();
  for (const path of [cwd, dirname(outputDirectory(cwd))]) rmSync(path, { recursive: true, force: true });
});

const context = (more: Partial<ToolContext> = {}): ToolContext => ({
  cwd,
  env: { PATH: process.env.PATH, HOME: cwd },
  signal: new AbortController().signal,
  seenFiles: new Map(),
  background,
  ...more,
});

interface Started {
  readonly taskId: string;
  readonly outputFile: string;
}

async function start(command: string, more: { timeout?: number } = {}): Promise<Started> {
  const result = await bashTool.execute({ command, run_in_background: true, ...more }, context());
  expect(result.isError).not.toBe(true);
  return result.data as Started;
}

const output = (task_id: string, more: object = {}, given?: Partial<ToolContext>): Promise<ToolResult> =>
  taskOutputTool.execute({ task_id, ...more }, context(given));
const pidIn = (name: string): number => Number(readFileSync(join(cwd, name), "utf8"));
const isRunning = (name: string): boolean => startTimeOf(pidIn(name)) !== undefined;

describe("background command", () => {
  test("reports that its output file is full, and still shows its newest output", async () => {
    background = new BackgroundTasks({ cwd, secrets: [SECRET], room: 1_000 });
    const { taskId, outputFile } = await start(
      `seq 1 5000; echo ${SECRET}; until [ -e go ]; do sleep 0.02; done`,
    );
    const newest = async () => (await output(taskId, { block: false })).content;
    await eventually("its newest output", async () => (await newest()).includes("5000\n[secret]"));
    expect(await newest()).toContain(`its start is in ${outputFile}, which is full`);
    writeFileSync(join(cwd, "go"), "");
    expect((await output(taskId)).content).toMatch(/5000\n\[secret\]$/);
    const kept = readFileSync(outputFile, "utf8");
    expect(kept).toMatch(/^1\n2\n[\s\S]*… \(truncated here, after 1000 characters\)\n$/);
    expect(kept.length).toBeLessThan(1_100);
  });

  test("shows its output while it runs and notifies once of its end, with the reason", async () => {
    const { taskId, outputFile } = await start(
      "echo begun; until [ -e go ]; do sleep 0.02; done; echo over; exit 3",
    );
    expect(statSync(outputFile).mode & 0o777).toBe(0o600);
    await eventually("its first output", () => readFileSync(outputFile, "utf8") === "begun\n");
    expect((await output(taskId, { block: false })).content).toBe(`${taskId} is still running\nbegun`);
    await bashTool.execute({ command: "touch go" }, context());
    await eventually("its end", () => notices.length > 0);
    expect(notices).toMatchObject([{ taskId, outputFile, status: "failed", how: "Exit code 3" }]);
    expect(notices[0]?.what).toContain("echo begun");
    expect(notices[0]?.isNews()).toBe(true);
    expect((await output(taskId)).content).toBe(`${taskId} failed: Exit code 3\nbegun\nover`);
    // An agent that has read the end is not notified again.
    expect(notices[0]?.isNews()).toBe(false);
  });

  test("sends no notice of its end to an agent that waited for it", async () => {
    const { taskId } = await start("until [ -e go ]; do sleep 0.02; done; echo done");
    const waiting = output(taskId);
    writeFileSync(join(cwd, "go"), "");
    expect((await waiting).content).toBe(`${taskId} completed: exit code 0\ndone`);
    expect(notices).toEqual([]);
  });

  test("is waited for until the timeout or an interrupt; a notice reports its end later", async () => {
    const { taskId } = await start("until [ -e go ]; do sleep 0.02; done");
    expect((await output(taskId, { timeout: 10 })).content).toContain("is still running");
    const controller = new AbortController();
    const waiting = output(taskId, {}, { signal: controller.signal });
    controller.abort();
    expect((await waiting).content).toContain("is still running");
    await bashTool.execute({ command: "touch go" }, context());
    await eventually("its end", () => notices.length === 1);
    expect(notices[0]?.isNews()).toBe(true);
  });

  test("continues after the turn that started it", async () => {
    const controller = new AbortController();
    const started = await bashTool.execute(
      { command: "echo $$ >pid; sleep 600", run_in_background: true },
      context({ signal: controller.signal }),
    );
    await eventually("its pid", () => existsSync(join(cwd, "pid")) && pidIn("pid") > 0);
    controller.abort();
    const { taskId } = started.data as Started;
    expect((await output(taskId, { block: false })).content).toContain("is still running");
    expect(isRunning("pid")).toBe(true);
  });

  test("is stopped with its children, including those that ignore SIGTERM", async () => {
    const { taskId } = await start(
      "trap '' TERM; echo $$ >parent; sh -c 'trap \"\" TERM; echo $$ >child; sleep 600; sleep 600'",
    );
    await eventually("both pids", () => existsSync(join(cwd, "child")) && pidIn("child") > 0);
    const stopped = await taskStopTool.execute({ task_id: taskId }, context());
    expect(stopped).toMatchObject({ content: `${taskId} was stopped.`, data: { status: "killed" } });
    expect([isRunning("parent"), isRunning("child")]).toEqual([false, false]);
    expect(notices).toEqual([]);
    expect((await output(taskId)).content).toContain(`${taskId} killed`);
    const again = await taskStopTool.execute({ task_id: taskId }, context());
    expect(again.isError).not.toBe(true);
  });

  test("ends with its agent, without a notice", async () => {
    await start("echo $$ >one; sleep 600");
    await start("echo $$ >two; sleep 600");
    await eventually("both pids", () =>
      ["one", "two"].every((name) => existsSync(join(cwd, name)) && pidIn(name) > 0),
    );
    await background.endAll();
    expect([isRunning("one"), isRunning("two")]).toEqual([false, false]);
    expect(notices).toEqual([]);
  });

  test("ends at the timeout of its call", async () => {
    const { taskId } = await start("sleep 600", { timeout: 50 });
    expect((await output(taskId)).content).toContain(`${taskId} failed: Not done after 50 ms`);
  });

  test("shows the newest part of a long output; the file has all of it, with secrets redacted (S75)", async () => {
    const { taskId, outputFile } = await start(`echo first; echo ${SECRET}; seq 1 20000; echo last`);
    await eventually("its end", () => notices.length === 1);
    expect(notices[0]?.what).toBe("echo first; echo [secret]; seq 1 20000; echo last");
    const { content } = await output(taskId);
    expect(content.length).toBeLessThan(32_000);
    expect(content).toContain(`the whole output is in ${outputFile}`);
    expect(content).toMatch(/20000\nlast$/);
    const whole = readFileSync(outputFile, "utf8");
    expect(whole).toMatch(/^first\n\[secret\]\n1\n/);
  });

  test("is refused while 16 others run, and starts after one has ended", async () => {
    const started: Started[] = [];
    for (let i = 0; i < 16; i += 1) started.push(await start("sleep 600"));
    const result = await bashTool.execute({ command: "sleep 1", run_in_background: true }, context());
    expect(result).toMatchObject({ isError: true, content: expect.stringContaining("TaskStop") });
    await taskStopTool.execute({ task_id: started[0]?.taskId ?? "" }, context());
    await start("true");
  });

  test("is shortened in its notice; one that is too long for the system is reported as failed", async () => {
    const words = `echo ${"word ".repeat(100)}`;
    await start(words);
    await eventually("its end", () => notices.length === 1);
    expect(notices[0]?.what).toBe(`${words.slice(0, 119)}…`);
    await start(`: ${"x".repeat(3_000_000)}`);
    await eventually("its end", () => notices.length === 2);
    expect(notices[1]).toMatchObject({
      status: "failed",
      how: expect.stringContaining("longer than the system allows"),
    });
    expect(notices[1]?.what.length).toBeLessThan(200);
  });

  test("is reported as unknown if its id does not exist", async () => {
    expect(await output("bash-0")).toMatchObject({
      isError: true,
      content: expect.stringContaining("bash-0"),
    });
    expect((await taskStopTool.execute({ task_id: "bash-0" }, context())).isError).toBe(true);
  });

  test("is forgotten after many later commands have ended", async () => {
    const work = async () => ({ status: "completed" as const, how: "done" });
    const first = background.start("bash", "first", work);
    for (let i = 0; i < 130; i += 1) {
      background.start("bash", `${i}`, work);
      await Promise.resolve();
    }
    await eventually("the end of all commands", () => background.running === 0);
    background.start("bash", "last", work);
    await eventually("the end of the last command", () => background.running === 0);
    expect((await output(first?.taskId ?? "")).isError).toBe(true);
  });
});
