import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { descendants, processTable } from "../../../../src/os/process/process-table.ts";
import { scriptOf } from "../../../../src/os/sandbox/prewarmer.ts";
import { script } from "../../../support/processes/script-process.ts";
import {
  describeInSandbox,
  type SandboxedAgent,
  sandboxedAgent,
} from "../../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const agentWithCommand = script("sandboxed-command");

/** Starts `sh -c command` in the waiting sandbox. */
async function startPrewarmed({ sandbox, env, project }: SandboxedAgent, command: string) {
  const program = await sandbox.wrap({ file: "/bin/sh", args: ["-c", command], env }, project);
  return program.startPrewarmed?.(program.env);
}

async function outputOf(child: Awaited<ReturnType<typeof startPrewarmed>>): Promise<string | undefined> {
  let output = "";
  for await (const chunk of child?.stdout ?? []) output += String(chunk);
  return output;
}

/** Runs a command, after which another sandbox is set up, and waits for it. */
async function prewarm(agent: SandboxedAgent): Promise<void> {
  const before = new Set(descendantsOf(process.pid));
  await agent.bash(":");
  await eventually("a waiting sandbox", () =>
    descendantsOf(process.pid).some((one) => !before.has(one) && isMounted(agent.project, one)),
  );
}

describeInSandbox("a prewarmed sandbox", () => {
  test("runs the next command, and is replaced after a command of the agent", async () => {
    const agent = await sandboxedAgent();
    expect(await startPrewarmed(agent, "echo none waits")).toBeUndefined();
    await prewarm(agent);
    expect(await outputOf(await startPrewarmed(agent, "echo first"))).toBe("first\n");
    await prewarm(agent);
    expect(await outputOf(await startPrewarmed(agent, "echo second"))).toBe("second\n");
  });

  test("passes arguments, variables and the directory on unchanged, and an empty input", async () => {
    const odd = `a'b"c $HOME \`id\`\n\\ é -- =`;
    const agent = await sandboxedAgent({ env: { ODD: odd, "odd.name": "1", "-S": "id" } });
    await prewarm(agent);
    const show = `JSON.stringify([process.argv[1], process.cwd(), fs.readFileSync(0, "utf8"), process.env])`;
    const args = ["-e", `console.log(${show})`, odd];
    const program = await agent.sandbox.wrap({ file: "node", args, env: agent.env }, agent.project);
    const shown = JSON.parse((await outputOf(program.startPrewarmed?.(program.env))) ?? "");
    expect(shown).toMatchObject([
      odd,
      agent.project,
      "",
      { ODD: odd, "odd.name": "1", "-S": "id", PWD: agent.project },
    ]);
  });

  test("is not used after a protected file was replaced", async () => {
    const agent = await sandboxedAgent({
      prepare: (_, project) => writeFileSync(join(project, ".mcp.json"), "{}"),
    });
    const file = join(agent.project, ".mcp.json");
    await prewarm(agent);
    writeFileSync(join(agent.project, "new"), "new");
    // A mount stays with its original file, so the waiting sandbox could write to the new one.
    renameSync(join(agent.project, "new"), file);
    await agent.bash("echo changed > .mcp.json");
    expect(readFileSync(file, "utf8")).toBe("new");
    rmSync(file);
    symlinkSync("other", file);
    writeFileSync(join(agent.project, "other"), "other");
    await agent.bash("echo changed > other; rm -f other");
    expect(readFileSync(file, "utf8")).toBe("other");
  });

  test("is not used after a protected file was created", async () => {
    const agent = await sandboxedAgent();
    await prewarm(agent);
    const file = join(agent.project, ".envrc");
    writeFileSync(file, "mine");
    await agent.bash("echo changed > .envrc");
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("ends when the sandbox is closed, and when its agent is killed", async () => {
    const before = new Set(descendantsOf(process.pid));
    const closed = await sandboxedAgent();
    await prewarm(closed);
    const waiting = descendantsOf(process.pid).filter((one) => !before.has(one));
    expect(waiting.length).toBeGreaterThan(0);
    await closed.sandbox.close();
    await eventually("the end of its processes", () => areGone(waiting));
    const agent = agentWithCommand(`p${process.pid}-${Date.now()}`);
    const cwd = await agent.line();
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const processes = descendantsOf(agent.child.pid ?? 0);
    agent.child.kill("SIGKILL");
    await eventually("the end of the agent's processes", () => areGone(processes));
  });
});

test("scriptOf › returns undefined for a program that a shell or env would read differently", () => {
  const of = (...words: string[]) => scriptOf({ cwd: "/", words });
  expect(of("sh", "-c", "a=b")).toContain("'sh' '-c' 'a=b'");
  expect([of("a=b"), of("-x"), of("sh", "\0"), of("sh", "x".repeat(70_000))]).toEqual(
    Array(4).fill(undefined),
  );
});

/** Returns the descendants of a process, by pid and start time. */
function descendantsOf(pid: number): string[] {
  const table = processTable();
  const found = descendants(
    table,
    table.filter((row) => row.pid === pid),
  );
  return [...found].filter((row) => row.pid !== pid).map((row) => `${row.pid} ${row.procStart}`);
}

function isMounted(path: string, process: string): boolean {
  try {
    return readFileSync(`/proc/${process.split(" ")[0]}/mountinfo`, "utf8").includes(path);
  } catch {
    // The process has just ended.
    return false;
  }
}

function areGone(processes: readonly string[]): boolean {
  return processes.every((one) => {
    const [pid, start] = one.split(" ");
    return startTimeOf(Number(pid)) !== start;
  });
}
