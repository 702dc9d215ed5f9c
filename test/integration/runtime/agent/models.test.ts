import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadPlaybook } from "../../../../src/runtime/agent/models.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "teams-playbook-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("loadPlaybook rejects an unknown tool and suggests the nearest", () => {
  const file = join(directory, "play.json");
  const tools = [{ name: "TaskCraete", input: {} }];
  writeFileSync(file, JSON.stringify({ version: 1, agents: { ada: [{ tools }] } }));
  expect(() => loadPlaybook(file)).toThrow("did you mean TaskCreate?");
});

it("loadPlaybook accepts the alias of a tool, as a model or a recording writes it", () => {
  const file = join(directory, "play.json");
  const tools = [{ name: "Task", input: { name: "ada", prompt: "Begin." } }];
  writeFileSync(file, JSON.stringify({ version: 1, agents: { "team-lead": [{ tools }] } }));
  expect(loadPlaybook(file).agents["team-lead"]).toEqual([{ tools }]);
});

it("loadPlaybook reports that the path is a directory", () => {
  expect(() => loadPlaybook(directory)).toThrow(
    expect.objectContaining({
      code: "INVALID_INPUT",
      message: `${directory} is a directory, not a playbook.`,
    }),
  );
});

it("loadPlaybook rejects a pipe, because only one process could read from it", () => {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => loadPlaybook(pipe)).toThrow(
    expect.objectContaining({
      code: "INVALID_INPUT",
      message: `${pipe} is a pipe or a device; a playbook must be a regular file.`,
    }),
  );
});

it.skipIf(process.getuid?.() === 0)("loadPlaybook reports that the file is not readable", () => {
  const file = join(directory, "secret.json");
  writeFileSync(file, "{}");
  chmodSync(file, 0);
  expect(() => loadPlaybook(file)).toThrow(
    expect.objectContaining({
      code: "INVALID_INPUT",
      message: `You may not read the playbook ${file}.`,
    }),
  );
});

it("loadPlaybook rejects a path through a file and a path that is too long", () => {
  const file = join(directory, "plain");
  writeFileSync(file, "");
  for (const path of [join(file, "play.json"), join(directory, "x".repeat(5000))]) {
    expect(() => loadPlaybook(path)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  }
});
