import { mkdirSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paneSuggestions } from "../../../../src/runtime/pane/pane-suggestions.ts";
import {
  bestPaths,
  type ProjectFiles,
  projectFiles,
  searchedPaths,
} from "../../../../src/runtime/pane/project-files.ts";
import type { Suggestion } from "../../../../src/terminal/input/suggestions.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const NO_FILES: ProjectFiles = { like: () => [] };

const noTeammates = (): readonly string[] => [];

function suggest(agent: string, cwd: string, words: readonly string[], teammates = noTeammates) {
  const [word = "", command] = words.toReversed();
  return paneSuggestions({ agent, cwd, files: NO_FILES, teammates })(word, command, () => undefined);
}

const inserted = (suggestions: readonly Suggestion[]): readonly string[] =>
  suggestions.map(({ insert }) => insert);

test("paneSuggestions › completes commands of this agent, with their descriptions", () => {
  expect(suggest("dev", "/", ["/st"])).toEqual([
    { insert: "/status ", label: "/status", note: expect.stringContaining("show the members"), runs: true },
  ]);
  expect(suggest("dev", "/", ["/EXP"])).toMatchObject([{ insert: "/export ", runs: false }]);
  expect(suggest("dev", "/", ["/del"])).toEqual([]);
});

test("paneSuggestions › completes the argument of a command", () => {
  expect(inserted(suggest("dev", "/", ["/mode", "p"]))).toEqual(["plan"]);
  expect(inserted(suggest("team-lead", "/", ["/exit", ""]))).toEqual(["--delete"]);
  expect(suggest("dev", "/", ["/exit", ""])).toEqual([]);
  expect(suggest("dev", "/", ["/constructor", ""])).toEqual([]);
});

test("paneSuggestions › completes paths part by part, without hidden files and unusual names", () => {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, "src", "text"), { recursive: true });
  const odd = [Buffer.concat([Buffer.from(join(cwd, "src/z")), Buffer.from([0xff])])];
  const names = ["src/clock.ts", "src/.env", "src/a b", "src/x\u001b[2Jy"].map((name) => join(cwd, name));
  for (const path of platform() === "darwin" ? names : [...names, ...odd]) writeFileSync(path, "");
  const paths = (word: string) => inserted(suggest("dev", cwd, [word]));
  expect(paths("@s")).toEqual(["@src/"]);
  expect(paths("@src/")).toEqual(["@src/clock.ts ", "@src/text/"]);
  expect(paths("@src/c")).toEqual(["@src/clock.ts "]);
  expect(paths("@src/.")).toEqual(["@src/.env "]);
  expect(paths("@none/x")).toEqual([]);
});

test("paneSuggestions › offers teammates before files", () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, "adapter.ts"), "");
  const members = () => ["team-lead", "ada", "ben"];
  expect(suggest("dev", cwd, ["@ad"], members)).toEqual([
    { insert: "@ada ", label: "ada", note: "teammate" },
    { insert: "@adapter.ts ", label: "adapter.ts" },
  ]);
  expect(suggest("dev", cwd, ["@team"], members)).toMatchObject([{ insert: "@team-lead ", note: "lead" }]);
});

test("paneSuggestions › finds a file in any directory by a part of its path, once the files are listed", async () => {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, "src", "node_modules"), { recursive: true });
  for (const name of ["src/clock.ts", "src/clock test.ts", "src/node_modules/clock.js", "clocks.md"])
    writeFileSync(join(cwd, name), "");
  const problems: unknown[] = [];
  const files = projectFiles({ cwd, env: process.env, problem: (error) => problems.push(error) });
  let isListed = false;
  const paths = (word: string) =>
    inserted(
      paneSuggestions({ agent: "dev", cwd, files, teammates: noTeammates })(word, undefined, () => {
        isListed = true;
      }),
    );
  expect(paths("@clo")).toEqual(["@clocks.md "]);
  await eventually("the list of files", () => isListed);
  expect(paths("@clo")).toEqual(["@clocks.md ", "@src/clock.ts "]);
  expect(problems).toEqual([]);
});

test("bestPaths › ranks matches in names first, then in directories, then scattered letters, and omits hidden files", () => {
  const paths = searchedPaths([
    "lib/tick-lock.ts",
    "clock/a.ts",
    "src/Clock.ts",
    "src/c/l/o/c/k.ts",
    "my-clock.ts",
    ".x/clock",
  ]);
  expect(bestPaths(paths, "clock", 9)).toEqual([
    "src/Clock.ts",
    "my-clock.ts",
    "clock/a.ts",
    "lib/tick-lock.ts",
    "src/c/l/o/c/k.ts",
  ]);
  expect(bestPaths(paths, ".x", 9)).toEqual([".x/clock"]);
  expect(bestPaths(paths, "clock", 1)).toEqual(["src/Clock.ts"]);
});
