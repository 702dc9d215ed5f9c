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

test("a playbook without a mistake is read", () => {
  expect(parsePlaybook(GOOD, "p.json").agents.lead?.[0]?.say).toBe("hi");
});

test.each([
  ["a comma too many", GOOD.replace('"hi" }', '"hi", }'), "p.json:6", "not JSON"],
  ["a value of the wrong type", GOOD.replace('"hi"', "5"), "p.json:6", "agents.lead[0].say"],
  ["a field that there is not", GOOD.replace('"say"', '"sya"'), "p.json:6", "agents.lead[0]"],
  [
    "a broken pattern",
    GOOD.replace('"contains": "hello"', '"matches": "("'),
    "p.json:5",
    "agents.lead[0].on.matches",
  ],
  ["a missing field", GOOD.replace('"version": 1,', ""), "p.json:1", "version"],
  ["nothing at all", "", "p.json:1", "not JSON"],
])("%s is told with line and field", (_what, source, line, field) => {
  expect(() => parsePlaybook(source, "p.json")).toThrow(
    expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(`${line}:`) }),
  );
  expect(() => parsePlaybook(source, "p.json")).toThrow(field);
});
