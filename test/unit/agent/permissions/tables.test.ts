import { expect, test } from "vitest";
import { BUILD_TABLES } from "../../../../src/agent/permissions/commands/tables/build-tables.ts";
import { FILE_TABLES } from "../../../../src/agent/permissions/commands/tables/file-tables.ts";
import { GIT } from "../../../../src/agent/permissions/commands/tables/git-tables.ts";
import { NET_TABLES } from "../../../../src/agent/permissions/commands/tables/net-tables.ts";
import { PACKAGE_TABLES } from "../../../../src/agent/permissions/commands/tables/package-tables.ts";
import { TEXT_TABLES } from "../../../../src/agent/permissions/commands/tables/text-tables.ts";
import { TOOL_TABLES } from "../../../../src/agent/permissions/commands/tables/tool-tables.ts";

test("tables of harmless options › each name the manual and version that they follow", () => {
  const all = { ...BUILD_TABLES, ...FILE_TABLES, ...NET_TABLES, ...PACKAGE_TABLES, ...TEXT_TABLES };
  const tables = Object.entries({ ...all, ...TOOL_TABLES, git: GIT });
  expect(tables.length).toBeGreaterThan(50);
  const without = tables.filter(([, { source = "" }]) => !/[a-z] \d/i.test(source));
  expect(without.map(([name]) => name)).toEqual([]);
});
