import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { messageOf } from "../../../../src/errors.ts";
import { followHooks } from "../../../../src/runtime/teammate/follow-hooks.ts";
import { addLastWords, writeHook } from "../../../../src/team/records/hook-record.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const HOUR_MS = 3_600_000;

function unexpected(error: unknown): never {
  throw error;
}

it("followHooks › reports the ends of turns from its start on, even if the clock was set back", async () => {
  const ref = await testTeam(["ada"]);
  const endTurn = (at: number, text: string): void => {
    addLastWords(ref, "ada", { at, text });
    writeHook(ref, "ada", { event: "resting", at });
  };
  const now = Date.now();
  endTurn(now, "before");
  const words: string[] = [];
  onTestFinished(followHooks(ref, "ada", (text) => words.push(text), unexpected));
  endTurn(now - HOUR_MS, "after");
  await eventually("the end of a turn", () => words.length > 0);
  endTurn(now - HOUR_MS + 1, "last");
  await eventually("the end of the next turn", () => words.length > 1);
  expect(words).toEqual(["after", "last"]);
});

it("followHooks › continues after a report that it cannot read", async () => {
  const ref = await testTeam(["ada"]);
  writeHook(ref, "ada", { event: "prompted", at: 1 });
  rmSync(ref.paths.agent("ada").hook);
  const [words, problems]: [string[], string[]] = [[], []];
  const onProblem = (error: unknown): void => void problems.push(messageOf(error));
  onTestFinished(followHooks(ref, "ada", (text) => words.push(text), onProblem));
  // A directory cannot be read, even by root.
  mkdirSync(ref.paths.agent("ada").hook);
  await eventually("the problem", () => problems.length > 0);
  rmdirSync(ref.paths.agent("ada").hook);
  writeHook(ref, "ada", { event: "resting", at: 2 });
  await eventually("the end of a turn", () => words.length > 0);
  expect(words).toEqual([""]);
});
