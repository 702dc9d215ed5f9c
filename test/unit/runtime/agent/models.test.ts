import { expect, it } from "vitest";
import { builtinTools } from "../../../../src/agent/tools/builtin-tools.ts";
import { BUILTIN_TOOL_NAMES } from "../../../../src/agent/tools/tool-names.ts";
import type { TeamToolContext } from "../../../../src/team-tools/context.ts";
import { teamTools } from "../../../../src/team-tools/team-tools.ts";
import { TEAM_TOOL_NAMES } from "../../../../src/team-tools/tool-names.ts";

it("tool names in playbook checks equal the names of the real tools", () => {
  expect([...BUILTIN_TOOL_NAMES]).toEqual(builtinTools().map(({ name }) => name));
  const called = (["lead", "teammate"] as const).flatMap((role) =>
    // Creating a tool reads only the role from its context.
    teamTools({ role } as TeamToolContext).map(({ name }) => name),
  );
  expect(new Set(TEAM_TOOL_NAMES)).toEqual(new Set(called));
});
