import { describe, expect, test } from "vitest";
import { teamConfig } from "../../../src/schema/config.ts";
import { isNewerFormat, migrateConfig, SCHEMA_VERSION } from "../../../src/schema/migrate.ts";
import { task } from "../../../src/schema/task.ts";

describe("migrateConfig with a config of version 1.0.0", () => {
  const old = {
    schemaVersion: "1.0.0",
    name: "crew",
    createdAt: "2025-01-02T03:04:05.000Z",
    leadAgentId: "team-lead@crew",
    members: [
      { name: "team-lead", joinedAt: 5 },
      { name: "dev", joinedAt: "2025-01-02T03:04:06.000Z", color: "blue", theirs: 1 },
    ],
    metadata: { kept: true },
    theirs: { deep: [1] },
  };

  test("converts it to the current version and keeps unknown fields", () => {
    expect(migrateConfig(old)).toEqual({
      ...old,
      schemaVersion: SCHEMA_VERSION,
      createdAt: Date.parse("2025-01-02T03:04:05.000Z"),
      members: [
        { name: "team-lead", joinedAt: 5 },
        { ...old.members[1], joinedAt: Date.parse("2025-01-02T03:04:06.000Z") },
      ],
      joinedCount: 1,
      former: [],
    });
    expect(teamConfig.parse(old)).toMatchObject({ schemaVersion: SCHEMA_VERSION, theirs: { deep: [1] } });
  });

  test("keeps an existing count and list of former members, and is idempotent", () => {
    const counted = {
      ...old,
      joinedCount: 7,
      former: [{ name: "x", agentId: "x@crew", endedAt: 1, how: "killed" }],
    };
    expect(migrateConfig(counted)).toMatchObject({ joinedCount: 7, former: counted.former });
    expect(migrateConfig(migrateConfig(old))).toEqual(migrateConfig(old));
  });
});

test.each([
  ["without a version, which another program wrote,", { name: "theirs", members: [{ name: "team-lead" }] }],
  ["of the current version", { name: "crew", schemaVersion: SCHEMA_VERSION }],
  ["of a newer minor version", { name: "crew", schemaVersion: "1.9.0", added: 1 }],
  ["of a newer major version", { name: "crew", schemaVersion: "2.0.0" }],
  ["of an invalid version", { name: "crew", schemaVersion: "soon" }],
  ["that is not an object", [1]],
  ["that is null", null],
])("migrateConfig returns a config %s unchanged", (_what, config) => {
  expect(migrateConfig(config)).toBe(config);
});

test.each([
  ["1.0.0", false],
  [SCHEMA_VERSION, false],
  ["1.99.0", false],
  ["2.0.0", true],
  ["10.0", true],
  ["soon", false],
])("isNewerFormat: version %s gives %s", (version, newer) => {
  expect(isNewerFormat(version)).toBe(newer);
});

describe("null values", () => {
  test("read as missing in optional fields of a config and its members, and stay in unknown fields", () => {
    const config = teamConfig.parse({
      name: "crew",
      description: null,
      leadProcess: null,
      metadata: null,
      createdAt: null,
      theirs: null,
      members: [
        { name: "team-lead", agentType: null, color: null, cwd: null, subscriptions: null, theirs: null },
      ],
    });
    expect(config).toEqual({
      name: "crew",
      createdAt: 0,
      leadAgentId: "",
      leadSessionId: "",
      theirs: null,
      members: [
        {
          name: "team-lead",
          agentId: "",
          cwd: "",
          joinedAt: 0,
          subscriptions: [],
          tmuxPaneId: "",
          theirs: null,
        },
      ],
    });
  });

  test("read as missing in optional fields of a task, and stay in unknown fields", () => {
    const nulls = {
      owner: null,
      activeForm: null,
      description: null,
      blocks: null,
      blockedBy: null,
      metadata: null,
    };
    expect(task.parse({ id: "1", subject: "x", status: "pending", ...nulls, theirs: null })).toEqual({
      id: "1",
      subject: "x",
      status: "pending",
      description: "",
      blocks: [],
      blockedBy: [],
      theirs: null,
    });
  });

  test("fail in required fields", () => {
    expect(teamConfig.safeParse({ name: null }).success).toBe(false);
    expect(task.safeParse({ id: "1", subject: null, status: "pending" }).success).toBe(false);
  });
});
