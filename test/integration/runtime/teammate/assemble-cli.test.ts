import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findAdapter } from "../../../../src/adapter/adapters.ts";
import { createSocketDirectory } from "../../../../src/os/net/local-server.ts";
import { assembleCli, type CliParts } from "../../../../src/runtime/teammate/assemble-cli.ts";
import { settingsSchema } from "../../../../src/settings/settings-schema.ts";
import { scriptFile } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const standIn = scriptFile("cli/acp");

/** The parts of a CLI as the member `dev`, and a private directory. */
async function parts() {
  const { ctx, worker, cwd } = await workerOfTest(await testTeam(["dev"]));
  const settings = { ...settingsSchema.parse({}), ignored: [], ignoredReason: "" };
  const notes: string[] = [];
  const ends: CliParts["ends"] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
  });
  const own: Omit<CliParts, "signal"> = {
    ctx,
    worker,
    flags: { agentType: "general-purpose" },
    sessionId: "s",
    settings: () => settings,
    type: { types: [] },
    denials: [],
    sandbox: undefined,
    socket: createSocketDirectory(),
    ends,
    note: (line) => notes.push(line),
  };
  return { own, cwd, notes, config: ctx.ref.paths.config };
}

it("assembleCli › does not start the CLI when its process is already ending", async () => {
  const { own, cwd } = await parts();
  const started = join(cwd, "started");
  const program = { command: "/bin/sh", args: ["-c", `touch '${started}'`] };
  const adapter = findAdapter("fake", { fake: { channel: "acp", ...program } });
  const assembled = assembleCli(adapter, { ...own, signal: AbortSignal.abort("SIGTERM") });
  await expect(assembled).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(existsSync(started)).toBe(false);
});

it("assembleCli › keeps a CLI whose conversation cannot be recorded", async () => {
  const { own, cwd, notes, config } = await parts();
  // A directory cannot be read, even by root.
  const breaks = `mv '${config}' '${config}.aside'; mkdir '${config}'`;
  const args = ["-c", `${breaks}; exec '${process.execPath}' '${standIn()}' "$@"`, "sh"];
  const env = { STANDIN_HOME: join(cwd, "stand-in") };
  const adapter = findAdapter("fake", {
    fake: { channel: "acp", command: "/bin/sh", args, env, resume: "load" },
  });
  const agent = await assembleCli(adapter, { ...own, signal: new AbortController().signal });
  onTestFinished(() => agent.end());
  expect(notes).toContainEqual(expect.stringMatching(/^the conversation of fake was not recorded/));
});
