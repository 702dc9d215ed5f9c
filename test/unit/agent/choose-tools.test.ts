import { expect, test } from "vitest";
import { chooseTools, type ToolChoice } from "../../../src/agent/tools/select-tools.ts";

const ALL = [
  "Read",
  "Write",
  "Edit",
  "Grep",
  "Bash",
  "TaskOutput",
  "TaskStop",
  "Skill",
  "mcp__docs__find",
  "mcp__docs__get",
];
const FILES = ["Read", "Write", "Edit", "Grep"];
const COMMANDS = ["Bash", "TaskOutput", "TaskStop"];

// The type's base set, then the whitelist, then minus the blacklist (protocol.md section 8).
test.each<[string, ToolChoice, readonly string[]]>([
  ["all without a word", {}, ALL],
  ["the type's alone", { base: ["Read", "Grep"] }, ["Read", "Grep"]],
  ["none of a type that has none", { base: [] }, []],
  ["no more than the type's, whatever is wanted", { base: ["Read"], only: ["Read", "Bash"] }, ["Read"]],
  ["the wanted of the type's", { base: FILES, only: ["Edit", "Read"] }, ["Read", "Edit"]],
  ["without what never runs", { base: FILES, only: ["Read", "Write"], without: ["Write"] }, ["Read"]],
  ["without it though it is wanted", { only: ["Write"], without: ["Write", "Edit"] }, []],
  ["with what a rule refuses only in part", { base: COMMANDS, without: ["Bash(rm:*)"] }, COMMANDS],
  [
    "without what a rule refuses whatever it is called with",
    { base: FILES, without: ["Edit(*)"] },
    ["Read", "Write", "Grep"],
  ],
  ["what looks after commands with them", { only: ["Bash"] }, COMMANDS],
  ["a server's tools by its name", { only: ["mcp__docs"] }, ["mcp__docs__find", "mcp__docs__get"]],
  ["a family of tools", { base: ["mcp__*"], without: ["mcp__docs__get"] }, ["mcp__docs__find"]],
  ["all by a star", { base: ["*"] }, ALL],
])("an agent has %s", (_title, choice, names) => {
  const tools = ALL.map((name) => ({ name }));
  expect(chooseTools(tools, choice).map(({ name }) => name)).toEqual(names);
});
