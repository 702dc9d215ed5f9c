import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findAdapter } from "../../../../src/adapter/adapters.ts";
import { createSocketDirectory } from "../../../../src/os/net/local-server.ts";
import { assembleCli } from "../../../../src/runtime/teammate/assemble-cli.ts";
import { settingsSchema } from "../../../../src/settings/settings-schema.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

it("assembleCli › does not start the CLI when its process is already ending", async () => {
  const { ctx, worker, cwd } = await workerOfTest(await testTeam(["dev"]));
  const started = join(cwd, "started");
  const program = { command: "/bin/sh", args: ["-c", `touch '${started}'`] };
  const settings = { ...settingsSchema.parse({}), ignored: [], ignoredReason: "" };
  const ends: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
  });
  const assembled = assembleCli(findAdapter("fake", { fake: { channel: "acp", ...program } }), {
    ...{ ctx, worker, sessionId: "s", settings: () => settings, type: { types: [] }, denials: [], ends },
    flags: { agentType: "general-purpose" },
    sandbox: undefined,
    socket: createSocketDirectory(),
    signal: AbortSignal.abort("SIGTERM"),
    note: () => undefined,
  });
  await expect(assembled).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(existsSync(started)).toBe(false);
});
