import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Returns the docstrings of the methods of an interface, or of exported functions, by name. */
function docstringsIn(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`../../../src/library/${file}.ts`, import.meta.url), "utf8");
  const documented = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(?:export (?:async )?function )?(\w+)\(/g;
  return new Map([...text.matchAll(documented)].map(([, docstring = "", name = ""]) => [name, docstring]));
}

/** Returns the methods of the interfaces of a file. */
function methodsIn(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../../src/library/${file}.ts`, import.meta.url), "utf8");
  return [...text.matchAll(/^ {2}(\w+)\(/gm)].map(([, name = ""]) => name);
}

const FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  teams: ["createTeam", "openTeam", "listTeams"],
  "run-team": ["runTeam"],
};

it.each([
  ...["team", "teammate", "parts"].map((file) => [file, methodsIn(file)] as const),
  ...Object.entries(FUNCTIONS),
])("src/library/%s.ts › has errors and an example in each docstring", (file, names) => {
  const docstrings = docstringsIn(file);
  expect(names.length).toBeGreaterThan(0);
  const isComplete = (name: string): boolean => /@throws[\s\S]*@example/.test(docstrings.get(name) ?? "");
  expect(names.filter((name) => !isComplete(name))).toEqual([]);
});
