import { expect, test } from "vitest";
import { chooseTools, type ToolChoice } from "../../../../src/agent/tools/select-tools.ts";

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

// The type's base set, then the whitelist, minus the blacklist (protocol.md section 8).
test.each<[string, ToolChoice, readonly string[]]>([
  ["all tools by default", {}, ALL],
  ["only the base tools of its type", { base: ["Read", "Grep"] }, ["Read", "Grep"]],
  ["no tools if its type has none", { base: [] }, []],
  ["only the wanted tools that its type has", { base: ["Read"], only: ["Read", "Bash"] }, ["Read"]],
  ["the wanted tools of its type", { base: FILES, only: ["Edit", "Read"] }, ["Read", "Edit"]],
  ["no tool that is excluded", { base: FILES, only: ["Read", "Write"], without: ["Write"] }, ["Read"]],
  ["no tool that is both wanted and excluded", { only: ["Write"], without: ["Write", "Edit"] }, []],
  ["a tool that is excluded only for some calls", { base: COMMANDS, without: ["Bash(rm:*)"] }, COMMANDS],
  [
    "no tool that is excluded for all calls",
    { base: FILES, without: ["Edit(*)"] },
    ["Read", "Write", "Grep"],
  ],
  ["the tools for background commands along with Bash", { only: ["Bash"] }, COMMANDS],
  [
    "all tools of a server by the server's name",
    { only: ["mcp__docs"] },
    ["mcp__docs__find", "mcp__docs__get"],
  ],
  ["a family of tools by a pattern", { base: ["mcp__*"], without: ["mcp__docs__get"] }, ["mcp__docs__find"]],
  ["all tools by a star", { base: ["*"] }, ALL],
])("chooseTools gives an agent %s", (_title, choice, names) => {
  const tools = ALL.map((name) => ({ name }));
  expect(chooseTools(tools, choice).map(({ name }) => name)).toEqual(names);
});
