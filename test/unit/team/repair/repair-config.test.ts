import fc from "fast-check";
import { expect, test } from "vitest";
import { salvageJson } from "../../../../src/store/salvage-json.ts";
import { salvageConfig } from "../../../../src/team/repair/repair-config.ts";
import { salvageTask } from "../../../../src/team/repair/repair-tasks.ts";

test.each([
  ['{"a":1,"b":"x"}', { a: 1, b: "x" }],
  ['{"a":1,"b":"x"', { a: 1, b: "x" }],
  ['{"a":1,"b":"x', { a: 1 }],
  ['{"a":1,"b":12', { a: 1 }],
  ['{"a":1,"b":tru', { a: 1 }],
  ['{"a":1,"b', { a: 1 }],
  ['{"a":[{"n":"one"},{"n":"tw', { a: [{ n: "one" }, {}] }],
  ['{"a":1,}', { a: 1 }],
  ['{"a":1}}}}rest', { a: 1 }],
  ["", undefined],
  ["\0\0\0", undefined],
  ["12", undefined],
])("salvageJson keeps the complete part of %j", (text, value) => {
  expect(salvageJson(text)).toEqual(value);
});

const CONFIG = {
  name: "crew",
  leadAgentId: "team-lead@crew",
  members: ["team-lead", "dev", "reviewer"].map((name) => ({
    name,
    agentId: `${name}@crew`,
    cwd: "/",
    prompt: "x",
  })),
  schemaVersion: "1.1.0",
};

test("salvageConfig neither invents a member nor cuts a name, wherever the config is cut", () => {
  const text = JSON.stringify(CONFIG, undefined, 2);
  const names = CONFIG.members.map(({ name }) => name);
  for (let length = 0; length <= text.length; length += 1) {
    const saved = salvageConfig(text.slice(0, length), "crew");
    const found = saved?.members.map(({ name }) => name) ?? [];
    expect([length, found]).toEqual([length, names.slice(0, found.length)]);
    if (length === text.length) expect(found).toEqual(names);
  }
});

test("salvageTask keeps the id and no partial field, wherever the task is cut", () => {
  const task = { subject: "Read it", description: "all of it", status: "in_progress", owner: "dev", id: "7" };
  const text = JSON.stringify(task);
  for (let length = 0; length <= text.length; length += 1) {
    const saved = salvageTask(text.slice(0, length), "7");
    if (saved === undefined) continue;
    expect(saved).toMatchObject({ id: "7", subject: task.subject });
    expect(["", task.description]).toContain(saved.description);
    expect([undefined, task.owner]).toContain(saved.owner);
  }
});

test("salvage keeps nothing of text that is nested too deeply", () => {
  for (const text of ["[".repeat(100_000), '{"a":'.repeat(100_000)])
    expect(salvageJson(text)).toBeUndefined();
  expect(salvageConfig(`{"a":${"[".repeat(2_000)}`, "crew")).toBeUndefined();
});

test("salvage never throws for any text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (broken) => {
      salvageConfig(broken, "crew");
      salvageTask(broken, "1");
    }),
    { numRuns: 1_000 },
  );
});
