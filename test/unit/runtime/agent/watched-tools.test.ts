import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BackgroundTasks } from "../../../../src/agent/background/background-tasks.ts";
import { readTool } from "../../../../src/agent/tools/read.ts";
import { writeTool } from "../../../../src/agent/tools/write.ts";
import { watchEdits } from "../../../../src/runtime/agent/watched-tools.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("watchEdits › reports each successful edit, but no failed edit and no edit of the plan", async () => {
  const cwd = temporaryDirectory();
  const seen: string[] = [];
  const [write, read] = watchEdits([writeTool, readTool], async (path) => {
    seen.push(path);
  });
  expect(read).toBe(readTool);
  const context = {
    ...{ cwd, env: {}, signal: new AbortController().signal, planFile: join(cwd, "plan.md") },
    seenFiles: new Map<string, number>(),
    background: new BackgroundTasks({ cwd, secrets: [] }),
  };
  const put = (file_path: string) => write?.execute({ file_path, content: "x" }, context);
  await put("a.ts");
  await put("plan.md");
  expect((await put("a.ts/b.ts"))?.isError).toBe(true);
  expect(existsSync(join(cwd, "plan.md"))).toBe(true);
  expect(seen).toEqual([join(cwd, "a.ts")]);
});
