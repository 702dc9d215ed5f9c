import { expect, test } from "vitest";
import {
  parsePaneLine,
  slashHelp,
  slashNames,
  teamsCommand,
} from "../../../../src/runtime/pane/slash-commands.ts";

const read = (line: string, agent = "team-lead") => parsePaneLine(line, agent, (path) => path === "/tmp");

test.each([
  ["plain words", "look at src"],
  ["a slash in the middle", "either/or"],
  ["a path", "/etc/hosts is wrong"],
  ["an absolute path", "/notes.md is old"],
  ["an existing path of one part", "/tmp is full"],
  ["a lone slash", "/ is the root"],
  ["a number", "/2 of them"],
  ["a lone exclamation mark", " ! "],
])("parsePaneLine › treats %s as a message", (_, line) => {
  expect(read(line)).toEqual({ kind: "message" });
});

test.each([
  ["/status", "status", []],
  ["  /tasks ", "tasks", []],
  ["/Delegate", "delegate", []],
  ["/EXIT  --delete", "exit", ["--delete"]],
  ["/mode plan", "mode", ["plan"]],
  ["/bg bash-1 end", "bg", ["bash-1", "end"]],
  ["/model opus", "model", ["opus"]],
  ["/compact the names of all files", "compact", ["the", "names", "of", "all", "files"]],
  ["/export a file.txt", "export", ["a", "file.txt"]],
])("parsePaneLine › treats %j as a command", (line, name, words) => {
  expect(read(line)).toEqual({ kind: "slash", name, words });
});

test("parsePaneLine › treats a line after ! as a command for the person's shell", () => {
  expect(read("! git diff\n| wc -l")).toEqual({ kind: "shell", command: "git diff\n| wc -l" });
});

test.each([
  ["/statu", "there is no /statu, and nothing was sent. Did you mean status?"],
  ["/constructor", "there is no /constructor"],
  ["/bg1", "there is no /bg1, and nothing was sent. Did you mean bg?"],
  ["/fix_issue 12", "there is no /fix_issue"],
  ["/delegate the rest", "/delegate takes no arguments"],
  ["/exit now", "/exit takes [--delete]"],
  ["/mode fast", "/mode takes [mode]"],
  ["/model opus please", "/model takes [id]"],
  ["/clear it", "/clear takes no arguments"],
  ["/bg x stop", "/bg takes [id [end]]"],
])("parsePaneLine › rejects %j and says why", (line, why) => {
  expect(read(line)).toEqual({ kind: "unknown", reason: expect.stringContaining(why) });
});

test("slashNames › omits the lead's commands in a teammate's pane", () => {
  expect(slashNames("dev")).not.toContain("delegate");
  expect(read("/delegate", "dev")).toMatchObject({ kind: "unknown" });
  expect(slashNames("team-lead")).toContain("delegate");
  for (const name of slashNames("dev")) expect(slashHelp("dev", 80)).toContain(`/${name}`);
  expect(
    Math.max(
      ...slashHelp("dev", 60)
        .split("\n")
        .map(({ length }) => length),
    ),
  ).toBeLessThanOrEqual(60);
});

test("/help › does not break a word at any width from 40 to 120 columns", () => {
  for (const agent of ["team-lead", "dev"]) {
    const words = slashHelp(agent, 1_000).split(/\s+/);
    for (let width = 40; width <= 120; width += 1) {
      const help = slashHelp(agent, width);
      expect(help.split(/\s+/), `${agent} at ${width}`).toEqual(words);
      expect(Math.max(...help.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
  }
});

test("/exit › takes different arguments and has a different help in a teammate's pane", () => {
  expect(read("/exit", "dev")).toEqual({ kind: "slash", name: "exit", words: [] });
  expect(read("/exit --delete", "dev")).toMatchObject({ kind: "unknown" });
  expect(slashHelp("dev", 80)).toContain("ask this agent to shut down");
  expect(slashHelp("team-lead", 80)).toContain("/exit [--delete]");
});

test("/land › accepts names of agents only in the lead's pane", () => {
  expect(read("/land dev tester")).toEqual({ kind: "slash", name: "land", words: ["dev", "tester"] });
  expect(read("/land tester", "dev")).toMatchObject({
    kind: "unknown",
    reason: "/land takes no arguments: nothing was done or sent",
  });
});

test("teamsCommand › names the agent of the pane", () => {
  expect(teamsCommand("mode", "dev", ["plan"])).toEqual(["mode", "dev", "plan"]);
  expect(teamsCommand("bg", "dev", ["bash-1", "end"])).toEqual(["bg", "dev", "bash-1", "--kill"]);
  expect(teamsCommand("help", "dev", [])).toBeUndefined();
});
