import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliIn } from "../../../support/processes/in-process-cli.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../../docs/team-files.md"), "utf8");

it("docs/team-files.md › the example is a team file, and only its permission mode needs trust", async () => {
  const teams = cliIn();
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(PAGE) ?? [];
  writeFileSync(join(teams.directory, "team.json"), example);
  const plan = await teams(["up", "team.json", "--dry-run", "--teammate-mode", "process"]);
  expect(plan.out).toContain('+ task "Review the guide": for reader, after "Rewrite the guide"\n');
  expect(plan.err.match(/^ {2}.*$/gm)).toEqual(["  team.json:9: members[0].permissionMode: acceptEdits"]);
});

it.each([
  ["team", (schema: Schema) => schema],
  ["member", (schema: Schema) => schema.properties.members?.items],
  ["task", (schema: Schema) => schema.properties.tasks?.items],
  ["lead", (schema: Schema) => schema.properties.lead],
])("docs/team-files.md › the table of a %s names every field", async (what, partOf) => {
  const schema = (await cliIn()(["up", "--schema"])).json<Schema & Record<string, unknown>>();
  const fields = Object.keys(partOf(schema)?.properties ?? {}).filter((name) => name !== "$schema");
  const [, rows = ""] =
    new RegExp(`\\| of (?:the|a) ${what} \\| \\|\\n\\| --- \\| --- \\|\\n((?:\\|.*\\n)+)`).exec(PAGE) ?? [];
  const named = rows.split("\n").flatMap((row) => (row.split("|")[1] ?? "").match(/(?<=`)\w+(?=`)/g) ?? []);
  expect(named.toSorted()).toEqual(fields.toSorted());
});

interface Schema {
  readonly properties: Readonly<Record<string, (Schema & { readonly items?: Schema }) | undefined>>;
}
