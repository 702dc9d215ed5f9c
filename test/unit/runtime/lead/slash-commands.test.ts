import { expect, test } from "vitest";
import { parseTypedLine } from "../../../../src/runtime/lead/slash-commands.ts";

const read = (line: string) => parseTypedLine(line, (path) => path === "/tmp");

test.each([
  ["plain words", "look at src"],
  ["a slash in the middle", "either/or"],
  ["a path", "/etc/hosts is wrong"],
  ["an absolute path", "/notes.md is old"],
  ["an existing path of one part", "/tmp is full"],
  ["a lone slash", "/ is the root"],
  ["a number", "/2 of them"],
])("parseTypedLine treats %s as a message", (_, line) => {
  expect(read(line)).toEqual({ kind: "message" });
});

test.each([
  ["/status", "status"],
  ["  /tasks ", "tasks"],
  ["/Delegate", "delegate"],
  ["/help", "help"],
  ["/exit", "exit"],
  ["/EXIT  --delete", "exit --delete"],
])("parseTypedLine treats %j as a command", (line, command) => {
  expect(read(line)).toEqual({ kind: "command", command });
});

test.each([
  ["/statu", "there is no /statu"],
  ["/compact now", "there is no /compact"],
  ["/constructor", "there is no /constructor"],
  ["/delegate the rest", "/delegate takes no arguments"],
  ["/exit now", "/exit takes only --delete"],
])("parseTypedLine rejects %j and says why", (line, why) => {
  expect(read(line)).toEqual({ kind: "unknown", reason: expect.stringContaining(why) });
});
