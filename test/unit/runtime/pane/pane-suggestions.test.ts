import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paneSuggestions } from "../../../../src/runtime/pane/pane-suggestions.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("paneSuggestions › completes commands of this agent, with what they do", () => {
  expect(paneSuggestions("dev", "/", "/st")).toEqual([
    { insert: "/status ", label: "/status", note: expect.stringContaining("show the members") },
  ]);
  expect(paneSuggestions("dev", "/", "/del")).toEqual([]);
});

test("paneSuggestions › completes paths part by part, without hidden files and odd names", () => {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, "src", "text"), { recursive: true });
  for (const name of ["src/clock.ts", "src/.env", "src/a b", "src/x\u001b[2Jy"])
    writeFileSync(join(cwd, name), "");
  const inserted = (word: string) => paneSuggestions("dev", cwd, word).map(({ insert }) => insert);
  expect(inserted("@s")).toEqual(["@src/"]);
  expect(inserted("@src/")).toEqual(["@src/clock.ts ", "@src/text/"]);
  expect(inserted("@src/c")).toEqual(["@src/clock.ts "]);
  expect(inserted("@src/.")).toEqual(["@src/.env "]);
  expect(inserted("@none/x")).toEqual([]);
});
