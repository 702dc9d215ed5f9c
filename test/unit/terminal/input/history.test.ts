import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addSecrets } from "../../../../src/os/redact.ts";
import { fileHistory } from "../../../../src/terminal/input/history.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("fileHistory › is shared by panes, keeps each line once, and is private", () => {
  const path = join(temporaryDirectory(), "history");
  const fail = (error: unknown): void => {
    throw error;
  };
  const [one, two] = [fileHistory(path, fail), fileHistory(path, fail)];
  one.add("first");
  one.add("several\nlines");
  one.add(" a secret");
  two.add("second");
  two.add("first");
  expect(two.entries()).toEqual(["several\nlines", "second", "first"]);
  one.add("third");
  expect(two.entries()).toEqual(["several\nlines", "second", "first", "third"]);
  expect(readFileSync(path, "utf8")).not.toContain("secret");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("fileHistory › redacts secrets of the environment", () => {
  addSecrets({ HISTORY_TEST_API_KEY: "hunter2-in-history" });
  const path = join(temporaryDirectory(), "history");
  const history = fileHistory(path, () => undefined);
  history.add("!curl -H 'x-key: hunter2-in-history' localhost");
  expect(readFileSync(path, "utf8")).toBe(`"!curl -H 'x-key: [secret]' localhost"\n`);
  expect(history.entries()).toEqual(["!curl -H 'x-key: [secret]' localhost"]);
});

test("fileHistory › skips damaged lines", () => {
  const path = join(temporaryDirectory(), "history");
  appendFileSync(path, '"good"\n{"no":"string"}\n"torn');
  const history = fileHistory(path, () => undefined);
  history.add("next");
  expect(history.entries()).toEqual(["good", "next"]);
});

test("fileHistory › reports once that it cannot write, and remembers its own lines", () => {
  const path = join(temporaryDirectory(), "history");
  mkdirSync(path);
  const problems: unknown[] = [];
  const history = fileHistory(path, (error) => problems.push(error));
  for (const line of ["one", "two"]) history.add(line);
  expect(history.entries()).toEqual(["one", "two"]);
  expect(problems).toHaveLength(1);
});
