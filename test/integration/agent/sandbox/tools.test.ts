import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

describeInSandbox("tools in the sandbox", () => {
  test("npm installs a local dependency and runs a script", async () => {
    const { bash } = await sandboxedAgent({
      prepare: (_, project) => {
        mkdirSync(join(project, "dep"));
        writeFileSync(join(project, "dep/package.json"), '{"name":"dep","version":"1.0.0"}');
        writeFileSync(
          join(project, "package.json"),
          '{"name":"x","scripts":{"test":"echo it works"},"dependencies":{"dep":"file:./dep"}}',
        );
      },
    });
    const result = await bash(
      "npm install --no-audit --no-fund --loglevel=error && npm test && ls node_modules",
    );
    expect(result).toMatchObject({ isError: false, content: expect.stringMatching(/it works[\s\S]*dep$/) });
  });

  test("scripts create temporary files", async () => {
    const { bash } = await sandboxedAgent();
    expect((await bash('file="$(mktemp)" && echo kept > "$file" && cat "$file"')).content).toBe("kept");
  });
});
