import { appendFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { parseJsonLine } from "../../../src/store/jsonl.ts";
import { openLineFeed } from "../../../src/store/tail.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

function log() {
  const directory = temporaryDirectory();
  const [path, older] = [join(directory, "log.jsonl"), join(directory, "log.1.jsonl")];
  return {
    path,
    older,
    feed: () => openLineFeed(path, parseJsonLine(z.number()), { older }),
    add: (...lines: readonly (number | string)[]) => appendFileSync(path, `${lines.join("\n")}\n`),
    turnOver: () => renameSync(path, older),
  };
}

test("line feed › returns each line once, and a half-written line when it is complete", () => {
  const { path, feed, add } = log();
  const { poll: look } = feed();
  expect(look()).toEqual([]);
  add(1, "no json", 2);
  expect(look()).toEqual([1, 2]);
  appendFileSync(path, "3");
  expect(look()).toEqual([]);
  add("", 4);
  expect(look()).toEqual([3, 4]);
  expect(look()).toEqual([]);
});

test("line feed › finishes a rotated file before it continues with the new one", () => {
  const { feed, add, turnOver } = log();
  add(1);
  const { poll: look } = feed();
  expect(look()).toEqual([1]);
  add(2);
  turnOver();
  expect(look()).toEqual([2]);
  add(3);
  turnOver();
  add(4);
  expect(look()).toEqual([3, 4]);
});

test("line feed › starts with the rotated file", () => {
  const { feed, add, turnOver } = log();
  add(1, 2);
  turnOver();
  add(3);
  expect(feed().poll()).toEqual([1, 2, 3]);
});

test("line feed › returns no line twice when it polls before the new file exists", () => {
  const { feed, add, turnOver } = log();
  add(1, 2);
  const { poll: look } = feed();
  expect(look()).toEqual([1, 2]);
  turnOver();
  expect(look()).toEqual([]);
  add(3);
  expect(look()).toEqual([3]);
});

test("line feed › starts with the rotated file when there is no new one", () => {
  const { feed, add, turnOver } = log();
  add(1, 2);
  turnOver();
  const { poll: look } = feed();
  expect(look()).toEqual([1, 2]);
  add(3);
  expect(look()).toEqual([3]);
});
