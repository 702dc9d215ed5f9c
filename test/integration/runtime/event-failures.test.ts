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
  const said: string[] = [];
  reportEventFailures(one, () => said.push("one"));
  reportEventFailures(two, () => said.push("two"));
  for (const ref of [one, one, two, two]) fail(ref);
  expect(said).toEqual(["one", "two"]);
});

it("reportEventFailures › follows a team that gets another name, and reports nothing after the end", () => {
  const [before, after] = [brokenTeam("before"), brokenTeam("after")];
  const ref = movableRef({ ...before, home: after.home });
  const said: string[] = [];
  reportEventFailures(ref, (text) => said.push(text));
  ref.moveTo(after.team);
  fail(before);
  fail(after);
  expect(said).toEqual([expect.stringContaining("EISDIR")]);
  reportEventFailures(ref, (text) => said.push(text));
  forgetEventFailures(ref);
  fail(ref);
  expect(said).toHaveLength(1);
});
