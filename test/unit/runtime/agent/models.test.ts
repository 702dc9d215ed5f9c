import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtinTools } from "../../../../src/agent/tools/builtin-tools.ts";
import { BUILTIN_TOOL_NAMES } from "../../../../src/agent/tools/tool-names.ts";
import { loadPlaybook } from "../../../../src/runtime/agent/models.ts";
import type { TeamToolContext } from "../../../../src/team-tools/context.ts";
import { teamTools } from "../../../../src/team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../../../src/team-tools/tool-names.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "teams-playbook-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

it("tool names in playbook checks equal the names of the real tools", () => {
  expect([...BUILTIN_TOOL_NAMES]).toEqual(builtinTools().map(({ name }) => name));
  const called = (["lead", "teammate"] as const).flatMap((role) =>
    // Creating a tool reads only the role from its context.
    teamTools({ role } as TeamToolContext).map(({ name }) => name),
  );
  expect(new Set(TEAM_TOOL_NAMES)).toEqual(new Set(called));
});

it("loadPlaybook rejects an unknown tool and suggests the nearest", () => {
  const file = join(place, "play.json");
  const tools = [{ name: "TaskCraete", input: {} }];
  writeFileSync(file, JSON.stringify({ version: 1, agents: { ada: [{ tools }] } }));
  expect(() => loadPlaybook(file)).toThrow("did you mean TaskCreate?");
});

it("loadPlaybook reports that the path is a directory", () => {
  expect(() => loadPlaybook(place)).toThrow(
    expect.objectContaining({
      code: "INVALID_INPUT",
      message: `${place} is a directory, not a playbook.`,
    }),
  );
});

it.skipIf(process.getuid?.() === 0)("loadPlaybook reports that the file is not readable", () => {
  const file = join(place, "secret.json");
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
  const file = join(place, "plain");
  writeFileSync(file, "");
  for (const path of [join(file, "play.json"), join(place, "x".repeat(5000))]) {
    expect(() => loadPlaybook(path)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  }
});
