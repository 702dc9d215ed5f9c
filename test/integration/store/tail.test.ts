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
    rotate: () => renameSync(path, older),
  };
}

test("line feed › returns each line once, and a half-written line when it is complete", () => {
  const { path, feed, add } = log();
  const { poll } = feed();
  expect(poll()).toEqual([]);
  add(1, "no json", 2);
  expect(poll()).toEqual([1, 2]);
  appendFileSync(path, "3");
  expect(poll()).toEqual([]);
  add("", 4);
  expect(poll()).toEqual([3, 4]);
  expect(poll()).toEqual([]);
});

test("line feed › finishes a rotated file before it continues with the new one", () => {
  const { feed, add, rotate } = log();
  add(1);
  const { poll } = feed();
  expect(poll()).toEqual([1]);
  add(2);
  rotate();
  expect(poll()).toEqual([2]);
  add(3);
  rotate();
  add(4);
  expect(poll()).toEqual([3, 4]);
});

test("line feed › starts with the rotated file", () => {
  const { feed, add, rotate } = log();
  add(1, 2);
  rotate();
  add(3);
  expect(feed().poll()).toEqual([1, 2, 3]);
});

test("line feed › returns no line twice when it polls before the new file exists", () => {
  const { feed, add, rotate } = log();
  add(1, 2);
  const { poll } = feed();
  expect(poll()).toEqual([1, 2]);
  rotate();
  expect(poll()).toEqual([]);
  add(3);
  expect(poll()).toEqual([3]);
});

test("line feed › starts with the rotated file when there is no new one", () => {
  const { feed, add, rotate } = log();
  add(1, 2);
  rotate();
  const { poll } = feed();
  expect(poll()).toEqual([1, 2]);
  add(3);
  expect(poll()).toEqual([3]);
});
