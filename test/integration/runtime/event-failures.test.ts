import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { forgetEventFailures, reportEventFailures } from "../../../src/runtime/event-failures.ts";
import { movableRef, type TeamRef, teamRef } from "../../../src/team/ref.ts";
import { recordEvent } from "../../../src/telemetry/event-log.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** Returns a team whose events cannot be written. */
function brokenTeam(name: string): TeamRef {
  const root = temporaryDirectory();
  const ref = teamRef({ root, runtime: root }, name);
  mkdirSync(dirname(ref.paths.events), { recursive: true });
  mkdirSync(ref.paths.events);
  return ref;
}

const fail = (ref: TeamRef): void => recordEvent(ref, { type: "idle", reason: "available" });

it("reportEventFailures › reports the first failure to the reader of each team", () => {
  const [one, two] = [brokenTeam("one"), brokenTeam("two")];
  const reports: string[] = [];
  reportEventFailures(one, () => reports.push("one"));
  reportEventFailures(two, () => reports.push("two"));
  for (const ref of [one, one, two, two]) fail(ref);
  expect(reports).toEqual(["one", "two"]);
});

it("reportEventFailures › follows a renamed team, and reports nothing after forgetEventFailures", () => {
  const [before, after] = [brokenTeam("before"), brokenTeam("after")];
  const ref = movableRef({ ...before, home: after.home });
  const reports: string[] = [];
  reportEventFailures(ref, (text) => reports.push(text));
  ref.moveTo(after.team);
  fail(before);
  fail(after);
  expect(reports).toEqual([expect.stringContaining("EISDIR")]);
  reportEventFailures(ref, (text) => reports.push(text));
  forgetEventFailures(ref);
  fail(ref);
  expect(reports).toHaveLength(1);
});
