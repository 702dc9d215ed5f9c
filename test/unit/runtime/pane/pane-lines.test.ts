import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { paneLines } from "../../../../src/runtime/pane/pane-lines.ts";
import type { Io } from "../../../../src/terminal/io.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test.each([
  [
    "(the command may still be running: the process table cannot be read)",
    () => Promise.reject(new Error("the process table cannot be read")),
  ],
  [
    "(could not be ended, and still running: 12, 13)",
    () => Promise.resolve({ failure: "aborted", left: [12, 13] }),
  ],
])("paneLines › says that a user's command could not be ended: %s", async (content, runCommand) => {
  const events: AgentEvent[] = [];
  const view = { event: (event: AgentEvent) => void events.push(event), typed: () => undefined };
  const parts = { ref: {}, name: "dev", plain: true, width: () => 80, own: {}, worker: {}, view };
  const call = { io: { env: {}, cwd: "/" } };
  const lines = paneLines({ ...parts, call, runCommand } as unknown as Parameters<typeof paneLines>[0]);
  await lines.handle("!sleep 3", 0);
  expect(events).toMatchObject([
    { type: "tool_started", id: "shell-1", tool: "!", summary: "sleep 3" },
    { type: "tool_ended", id: "shell-1", isError: true, content },
  ]);
  expect(lines.interrupt()).toBe(false);
});

test("paneLines › writes the conversation to a file with spaces in its name, and to a file in the home directory", async () => {
  const cwd = temporaryDirectory();
  const home = temporaryDirectory();
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const parts = { ref: { team: "crew" }, name: "dev", plain: true, width: () => 80, own: {}, worker: {} };
  const call = {
    io: { env: { HOME: home }, cwd },
    runProgram: async (io: Pick<Io, "out">) => {
      io.out("› begin\n");
      return 0;
    },
  };
  const view = { typed: () => undefined, note, error: note };
  const lines = paneLines({ ...parts, call, view } as unknown as Parameters<typeof paneLines>[0]);
  await lines.handle("/export my notes.txt", 0);
  await lines.handle("/export ~/notes.txt", 0);
  const files = [join(cwd, "my notes.txt"), join(home, "notes.txt")];
  expect(notes).toEqual(files.map((file) => `the conversation was written to ${file}`));
  for (const file of files) expect(readFileSync(file, "utf8")).toBe("› begin\n");
});
