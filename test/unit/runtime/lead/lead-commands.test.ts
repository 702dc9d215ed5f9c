import { expect, test } from "vitest";
import { readTypedLine } from "../../../../src/runtime/lead/slash-commands.ts";

const read = (line: string) => readTypedLine(line, (path) => path === "/tmp");

test.each([
  ["words", "look at src"],
  ["a slash in the middle", "either/or"],
  ["a path", "/etc/hosts is wrong"],
  ["a path with a dot", "/notes.md is old"],
  ["a path that is there, of one word", "/tmp is full"],
  ["a slash alone", "/ is the root"],
  ["a number", "/2 of them"],
])("%s is a message", (_, line) => {
  expect(read(line)).toEqual({ kind: "message" });
});

test.each([
  ["/status", "status"],
  ["  /tasks ", "tasks"],
  ["/Delegate", "delegate"],
  ["/help", "help"],
  ["/exit", "exit"],
])("%s is a command", (line, command) => {
  expect(read(line)).toEqual({ kind: "command", command });
});

test.each([
  ["/statu", "there is no /statu"],
  ["/compact now", "there is no /compact"],
  ["/constructor", "there is no /constructor"],
  ["/delegate the rest", "/delegate takes nothing after it"],
])("%s is neither, and says so", (line, why) => {
  expect(read(line)).toEqual({ kind: "unknown", why: expect.stringContaining(why) });
});
