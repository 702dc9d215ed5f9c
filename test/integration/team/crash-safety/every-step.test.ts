import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { teamRef } from "../../../../src/team/ref.ts";
import { openRequest } from "../../../../src/team/requests/requests.ts";
import { addTask } from "../../../../src/team/tasks/update-task.ts";
import { script } from "../../../support/processes/script-process.ts";
import { firstStep, STRIDE } from "../../../support/random/extent.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { CLOCK_BEHIND, clockBehind } from "../../../support/timing/clock-behind.ts";

import { CASES } from "./cases.ts";

const stopped = script("team/killed-operation", CLOCK_BEHIND);

/** More steps than any operation has; stops the search if an operation never completes. */
const MAX_STEPS = 200;
/** Processes that run at the same time. */
const PARALLEL = 4;

test.for(Object.entries(CASES))(
  "crash safety › a process killed at any step of “%s” loses nothing, and the next operation recovers (S26)",
  async ([name, { operation = name, given, holds, recovers }]) => {
    clockBehind();
    const template = await testTeam(["a", "b"]);
    writeStatus(template, "a", statusOf({ activity: "old" }));
    for (const text of ["one", "two"]) await sendMessage(template, { from: "b", to: "a", text });
    for (const subject of ["one", "two", "three"]) await addTask(template, "b", { subject });
    openRequest(template, { id: "old", kind: "plan", from: "a", summary: "", payload: {}, at: 1 });
    await given?.(template);

    const isStopped = async (n: number): Promise<boolean> => {
      const root = join(dirname(template.home.root), String(n));
      cpSync(template.home.root, root, { recursive: true });
      const ref = teamRef({ root, runtime: join(root, "runtime") }, "crew");
      const { signal, code, stderr } = await stopped(root, operation, String(n)).ended();
      expect({ code, stderr }).toEqual({ code: signal === null ? 0 : null, stderr: "" });
      await holds(ref);
      await recovers(ref);
      return signal !== null;
    };
    for (let first = firstStep(); first < MAX_STEPS; first += PARALLEL * STRIDE) {
      const steps = Array.from({ length: PARALLEL }, (_, i) => isStopped(first + i * STRIDE));
      if ((await Promise.all(steps)).includes(false)) return;
    }
    throw new Error(`${operation} has more than ${MAX_STEPS} steps.`);
  },
);
