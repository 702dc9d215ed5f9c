import { expect, test } from "vitest";
import { parsePlaybook } from "../../../src/schema/playbook.ts";

const GOOD = `{
  "version": 1,
  "agents": {
    "lead": [
      { "on": { "contains": "hello" },
        "say": "hi" }
    ]
  }
}`;

test("parsePlaybook reads a valid playbook", () => {
  expect(parsePlaybook(GOOD, "p.json").agents.lead?.[0]?.say).toBe("hi");
});

function withCall(call: string): string {
  return GOOD.replace('"say": "hi"', `"tools": [${call}]`);
}

test("parsePlaybook ignores a byte order mark", () => {
  expect(parsePlaybook(`\uFEFF${GOOD}`, "p.json").version).toBe(1);
});

test.each([
  ["an extra comma", GOOD.replace('"hi" }', '"hi", }'), "p.json:6", "not JSON"],
  ["a value of the wrong type", GOOD.replace('"hi"', "5"), "p.json:6", "agents.lead[0].say"],
  ["an unknown field", GOOD.replace('"say"', '"sya"'), "p.json:6", "agents.lead[0]"],
  [
    "a broken pattern",
    GOOD.replace('"contains": "hello"', '"matches": "("'),
    "p.json:5",
    "agents.lead[0].on.matches",
  ],
  ["a missing field", GOOD.replace('"version": 1,', ""), "p.json:1", "version"],
  ["a missing field of a call", withCall('{ "name": "Bash" }'), "p.json:6", "tools[0].input: is missing"],
  [
    "a value that should be a list",
    '{\n"version": 1,\n"agents": {\n"lead": "hi" } }',
    "p.json:4",
    "agents.lead: must be a list, but is a string",
  ],
  [
    "a number out of range",
    GOOD.replace('"say": "hi"', '"delayMs": -1'),
    "p.json:6",
    "delayMs: must be at least 0",
  ],
  ["another version", GOOD.replace('"version": 1', '"version": 2'), "p.json:2", "version: must be 1"],
  [
    "a misspelt field",
    GOOD.replace('"agents"', '"agent"'),
    "p.json:3",
    'no field "agent"; did you mean agents?',
  ],
  [
    "an unknown field of a tool call",
    withCall('{ "function": "Bash", "input": {} }'),
    "p.json:6",
    "the fields are name, input, as",
  ],
  ["a missing }", GOOD.slice(0, -1), "p.json:9", "a } is missing"],
  ["a missing ,", GOOD.replace('"hello" },', '"hello" }'), "p.json:6", "a , is missing"],
  ["an empty file", "", "p.json:1", "the playbook: is empty"],
])("parsePlaybook reports %s with its line and field", (_what, source, line, field) => {
  expect(() => parsePlaybook(source, "p.json")).toThrow(
    expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(`${line}:`) }),
  );
  expect(() => parsePlaybook(source, "p.json")).toThrow(field);
});

const TOOLS = ["Read", "Bash"];

test.each([
  ["Bahs", 'there is no tool "Bahs"; did you mean Bash?'],
  ["Frobnicate", 'there is no tool "Frobnicate"; the tools are Read, Bash'],
])("parsePlaybook reports the unknown tool %s with its line, field and known tools", (name, what) => {
  const source = withCall(`{ "name": "Bash", "input": {} },\n{ "name": "${name}", "input": {} }`);
  expect(() => parsePlaybook(source, "p.json", { tools: TOOLS })).toThrow(
    `p.json:7: agents.lead[0].tools[1].name: ${what}`,
  );
  expect(parsePlaybook(source, "p.json").version).toBe(1);
});

test("parsePlaybook requires a list of turns for each known agent, or a list for all agents", () => {
  const known = { tools: TOOLS, agents: ["team-lead"] };
  expect(() => parsePlaybook(GOOD, "p.json", known)).toThrow(
    'p.json:3: agents: has no list for "team-lead" or for "*"',
  );
  for (const name of ["team-lead", "*"]) {
    const source = GOOD.replace('"lead"', `"${name}"`);
    expect(Object.keys(parsePlaybook(source, "p.json", known).agents)).toEqual([name]);
  }
});
