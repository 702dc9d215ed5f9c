import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { TeamError } from "../../../../src/errors.ts";
import { isPlainTask } from "../../../../src/schema/guards/task.ts";
import { type Task, task as taskSchema } from "../../../../src/schema/task.ts";
import { repairLinks } from "../../../../src/team/repair/repair-dependencies.ts";
import { hasLeaseExpired } from "../../../../src/team/tasks/lease.ts";
import { assertAllowed, assertClaimable } from "../../../../src/team/tasks/task-rules.ts";
import {
  changeTask,
  createTask,
  getTask,
  isBlocked,
  listTasks,
  ownerName,
} from "../../../../src/team/tasks/tasks.ts";
import { writeSettled } from "../../../support/files/settled-file.ts";
import { cases, corrupted, json, unknownFields } from "../../../support/random/arbitraries.ts";
import { testTeam } from "../../../support/team/test-team.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const id = fc.constantFrom("1", "2", "3", "4", "5");
const someId = fc.oneof(
  { weight: 4, arbitrary: id },
  { weight: 1, arbitrary: fc.constantFrom("9", "x", "") },
);
const links = fc.array(someId, { maxLength: 4 });
const name = fc.constantFrom("a", "b", "a@crew", "", "team-lead");
const status = fc.constantFrom("pending", "in_progress", "completed");
const fields = { subject: fc.string({ maxLength: 9 }), status, blocks: links, blockedBy: links };
const optional = {
  owner: name,
  description: fc.string({ maxLength: 9 }),
  metadata: fc.dictionary(fc.constantFrom("_lease", "_internal", "x"), json),
};

/** Tasks with links to each other, to themselves, in cycles, and to missing tasks. */
const tasks: fc.Arbitrary<Task[]> = fc.uniqueArray(
  fc
    .tuple(unknownFields, fc.record({ id, ...fields }), fc.record(optional, { requiredKeys: [] }))
    .map(([more, needed, rest]): Task => ({ description: "", ...more, ...rest, ...needed })),
  { maxLength: 5, selector: (task) => task.id },
);

test("the task schema keeps all fields of any valid task and never throws", () => {
  const anyId = fc.oneof({ weight: 4, arbitrary: id }, fc.constantFrom("", "x", "01", "-1", "1.5"), json);
  const loose = fc
    .tuple(
      unknownFields,
      fc.record({ ...fields, id: anyId }),
      fc.dictionary(fc.constantFrom(...Object.keys(optional), ...Object.keys(fields)), json),
    )
    .chain(([more, needed, rest]) =>
      fc.constantFrom({ ...more, ...rest, ...needed }, { ...more, ...needed, ...rest }),
    );
  fc.assert(
    fc.property(fc.oneof(loose, json), (value) => {
      const parsed = taskSchema.safeParse(value);
      if (isPlainTask(value)) expect(parsed).toEqual({ success: true, data: value });
      if (!parsed.success) return;
      // Null in an optional field counts as missing.
      const given = Object.entries(value as object).filter(([, one]) => one !== null);
      expect(parsed.data).toMatchObject(Object.fromEntries(given));
      isBlocked(parsed.data, () => parsed.data);
      hasLeaseExpired(parsed.data);
      ownerName(parsed.data);
    }),
    cases(15_000),
  );
});

test("repairLinks makes any links consistent: both ends, none to itself or to a missing task", () => {
  fc.assert(
    fc.property(tasks, (all) => {
      const repairs = new Map(repairLinks(all).map((one) => [one.id, one]));
      const repaired = all.map((task): Task => {
        const { blocks, blockedBy } = repairs.get(task.id) ?? task;
        return { ...task, blocks: [...blocks], blockedBy: [...blockedBy] };
      });
      const byId = new Map(repaired.map((task) => [task.id, task]));
      const oneSided = repaired.flatMap(({ id: one, blocks, blockedBy }) => [
        ...blocks.filter((other) => other === one || !byId.get(other)?.blockedBy.includes(one)),
        ...blockedBy.filter((other) => other === one || !byId.get(other)?.blocks.includes(one)),
      ]);
      expect(oneSided).toEqual([]);
      expect(repairLinks(repaired)).toEqual([]);
    }),
    cases(8_000),
  );
});

test("assertAllowed and assertClaimable throw only TeamErrors, and a claimable task is free", () => {
  const update = fc.record(
    { status: fc.oneof(status, fc.constant("deleted")), owner: name },
    { requiredKeys: [] },
  ) as fc.Arbitrary<{ status?: "pending"; owner?: string }>;
  fc.assert(
    fc.property(tasks, update, name, (all, wanted, actor) => {
      const get = (other: string) => all.find((task) => task.id === other);
      for (const task of all) {
        passes(() => assertAllowed(task, actor, wanted, get));
        if (!passes(() => assertClaimable(task, actor, get))) continue;
        expect(task.status).not.toBe("completed");
        expect([undefined, actor]).toContain(hasLeaseExpired(task) ? actor : ownerName(task));
      }
    }),
    cases(8_000),
  );
});

/** Returns whether the rule passes; it may only throw a TeamError. */
function passes(rule: () => void): boolean {
  try {
    rule();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TeamError);
    return false;
  }
}

test("a damaged task file is read or rejected with CORRUPT_FILE, hides no other task and keeps its id", async () => {
  const ref = await testTeam();
  for (const subject of ["one", "two"]) await createTask(ref, { subject });
  const path = ref.paths.task("1");
  await fc.assert(
    fc.asyncProperty(corrupted(tasks.map((all) => JSON.stringify({ ...all[0], id: "1" }))), async (text) => {
      writeSettled(path, text);
      const refused = await changeTask(ref, "1", (task) => ({ ...task, subject: "new" })).catch(
        (error) => error,
      );
      if (refused instanceof Error) {
        expect(refused).toMatchObject({ code: "CORRUPT_FILE" });
        expect(readFileSync(path, "utf8")).toBe(text);
      } else {
        expect(getTask(ref, "1").subject).toBe("new");
      }
      expect(listTasks(ref).map(({ subject }) => subject)).toContain("two");
    }),
    cases(100),
  );
  expect((await createTask(ref, { subject: "three" })).id).toBe("3");
});
