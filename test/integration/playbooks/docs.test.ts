import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { builtinTools } from "../../../src/agent/tools/builtin-tools.ts";
import type { TeamToolContext } from "../../../src/team-tools/context.ts";
import { teamTools } from "../../../src/team-tools/team-tools.ts";

const PAGE = readFileSync(new URL("../../../docs/playbooks.md", import.meta.url), "utf8");

// Creating a tool reads only the role from its context.
const TOOLS = [
  ...builtinTools(),
  ...(["lead", "teammate"] as const).flatMap((role) => teamTools({ role } as TeamToolContext)),
];

it("docs/playbooks.md has one row for each tool with its required and optional fields", () => {
  const rows = [...PAGE.matchAll(/^\| `([A-Z]\w+)`[^|]*\| ([^|]*) \|/gm)];
  const written = rows.map(([, name, input = ""]) => [name, fieldsOf(input)]);
  expect(rows).toHaveLength(new Set(TOOLS.map(({ name }) => name)).size);
  expect(Object.fromEntries(written)).toEqual(
    Object.fromEntries(TOOLS.map(({ name, input }) => [name, realFields(input)])),
  );
});

/** The fields of a row; text in parentheses explains the field before it. */
function fieldsOf(cell: string): string[] {
  return [...cell.replace(/\([^)]*\)/g, "").matchAll(/`([^`]+)`/g)].map(([, field = ""]) => field).sort();
}

function realFields(input: z.ZodMiniType): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return Object.keys(properties)
    .map((field) => (required.includes(field) ? field : `${field}?`))
    .sort();
}
