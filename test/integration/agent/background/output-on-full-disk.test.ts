import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../../src/agent/background/background-tasks.ts";
import { type OutputFile, outputDirectory } from "../../../../src/agent/background/output-file.ts";
import { taskOutputTool } from "../../../../src/agent/tools/background-tasks.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { type Disk, MAY_MOUNT, memoryDisk } from "../../../support/storm/disk.ts";

const signal = new AbortController().signal;

/** A task in the background whose output file is on a small disk. */
function onSmallDisk(): { disk: Disk; file: OutputFile; path: string; readOutput(): Promise<string> } {
  const disk = memoryDisk("4m");
  const cwd = temporaryDirectory();
  const directory = outputDirectory(cwd);
  mkdirSync(dirname(directory), { recursive: true });
  symlinkSync(disk.path, directory);
  onTestFinished(() => rmSync(dirname(directory), { recursive: true, force: true }));
  const background = new BackgroundTasks({ cwd, secrets: [] });
  let file: OutputFile | undefined;
  const started = background.start("bash", "make", async (ending, output) => {
    file = output;
    await new Promise((resolve) => ending.addEventListener("abort", resolve));
    return { status: "completed", how: "exit code 0" };
  });
  onTestFinished(() => background.endAll());
  const task = { task_id: started?.taskId ?? "", block: false };
  const context = { cwd, env: {}, signal, seenFiles: new Map(), background };
  return {
    disk,
    file: file as unknown as OutputFile,
    path: started?.outputFile ?? "",
    readOutput: async () => (await taskOutputTool.execute(task, context)).content,
  };
}

test.skipIf(!MAY_MOUNT)(
  "OutputFile › writes the output that a full disk refused once there is space again",
  async () => {
    const { disk, file, path, readOutput } = onSmallDisk();
    file.add("stdout", "first\n");
    disk.fill(0);
    file.add("stdout", `${"x".repeat(9_000)}\n`);
    file.add("stderr", "last\n");
    const full = await readOutput();
    expect(full).toMatch(/is not in .* yet: ENOSPC/);
    expect(full).toMatch(/first\nx{9000}\nlast$/);
    disk.empty();
    expect(await readOutput()).toMatch(/is still running\nfirst\nx{9000}\nlast$/);
    expect(readFileSync(path, "utf8")).toBe(`first\n${"x".repeat(9_000)}\nlast\n`);
  },
);

test.skipIf(!MAY_MOUNT)("OutputFile › says how many characters a full disk has lost", async () => {
  const { disk, file, path } = onSmallDisk();
  file.add("stdout", "first\n");
  disk.fill(0);
  file.add("stdout", `${"x".repeat(500_000)}\n`);
  file.add("stdout", "y".repeat(700_000));
  disk.empty();
  file.retry();
  expect(file.problem).toBeUndefined();
  const missing = 500_001 + 700_000 - 1024 * 1024;
  expect(readFileSync(path, "utf8")).toMatch(
    new RegExp(`^first\\n\\n… \\(${missing} characters are missing: ENOSPC[^)]*\\)\\nx+\\ny{700000}$`),
  );
});
