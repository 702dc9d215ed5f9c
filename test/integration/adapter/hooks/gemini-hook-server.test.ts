import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { GeminiHookServer } from "../../../../src/adapter/hooks/gemini-hook-server.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("the hooks of Gemini › refuse a call, and do not repeat a turn, when teams does not answer", async () => {
  const server = new GeminiHookServer(async () => undefined);
  const hooks = await server.listen(temporaryDirectory());
  server.close();
  const run = (event: string) => {
    const { command = "" } = hooks.find((hook) => hook.event === event) ?? {};
    return spawnSync("bash", ["-c", command], { input: "{}", encoding: "utf8" });
  };
  const refused = { status: 2, stdout: "", stderr: expect.stringContaining("teams did not answer") };
  expect(run("BeforeTool")).toMatchObject(refused);
  for (const event of ["BeforeAgent", "AfterAgent"])
    expect(run(event)).toMatchObject({ status: 1, stdout: "" });
});
