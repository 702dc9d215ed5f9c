import { readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { scratchDirectory } from "../../../../src/os/files/app-directories.ts";
import { hasEnvEntry, processTable } from "../../../../src/os/process/process-table.ts";
import { script } from "../../../support/processes/script-process.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const marked = (mark: string): number[] =>
  processTable()
    .map(({ pid }) => pid)
    .filter((pid) => hasEnvEntry(pid, `MARK=${mark}`));

const agentWithCommand = script("sandboxed-command");

describeInSandbox("a process in the sandbox", () => {
  test("cannot see or signal a process outside", async () => {
    const { bash } = await sandboxedAgent();
    const { content } = await bash(`ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>&1; id -u`);
    expect(Number(content.split("\n")[0])).toBeLessThan(10);
    expect(content).toMatch(/No such process/);
  });

  test("ends with its command, and with a stopped background task", async () => {
    const mark = `m${process.pid}-${Date.now()}`;
    const { bash, context } = await sandboxedAgent({ env: { MARK: mark } });
    await bash("sleep 1000 & setsid sleep 1000 & echo started");
    await eventually("the end of the command's background processes", () => marked(mark).length === 0);
    await bash("setsid sleep 1000 & sleep 1000", { run_in_background: true });
    await eventually("the background task", () => marked(mark).length >= 2);
    await context.background.endAll();
    expect(marked(mark)).toEqual([]);
  });

  test("ends when the agent is killed", async () => {
    const mark = `k${process.pid}-${Date.now()}`;
    const agent = agentWithCommand(mark);
    const cwd = await agent.line();
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    expect(marked(mark).length).toBeGreaterThan(2);
    agent.child.kill("SIGKILL");
    await eventually("the end of every process", () => marked(mark).length === 0);
    const left = () =>
      readdirSync(scratchDirectory()).filter((name) => name.startsWith(`sandbox-${agent.child.pid}-`));
    await agent.ended();
    await sandboxedAgent();
    expect(left()).toEqual([]);
  });

  test("reaches servers of other commands, but neither this machine nor the network", async () => {
    const server = createServer((_, response) => response.end("outside"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { bash } = await sandboxedAgent();
    const get = (url: string) =>
      `node -e 'require("http").get("${url}", (r) => r.pipe(process.stdout)).on("error", (e) => console.log(e.code))'`;
    expect((await bash(get(`http://127.0.0.1:${port}`))).content).toBe("ECONNREFUSED");
    expect((await bash(get("http://192.0.2.1"))).content).toMatch(/ENETUNREACH|EHOSTUNREACH/);
    await bash(
      `node -e 'require("http").createServer((q, r) => r.end("inside")).listen(8123, "127.0.0.1")'`,
      { run_in_background: true },
    );
    await eventually(
      "a server of another command",
      async () => (await bash(get("http://127.0.0.1:8123"))).content === "inside",
    );
  });

  test("says that the sandbox may be why it failed", async () => {
    const { bash } = await sandboxedAgent();
    expect((await bash("touch .claude/settings.json")).content).toContain("dangerouslyDisableSandbox");
    expect((await bash("exit 3")).content).toBe("Exit code 3");
  });
});
