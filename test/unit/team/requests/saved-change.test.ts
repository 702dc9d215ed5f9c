import { describe, expect, test } from "vitest";
import { needsChange, savedChange } from "../../../../src/team/requests/saved-change.ts";

describe("savedChange", () => {
  const cut = ["+a", "… 5 more lines"];

  test.each<[string, unknown, readonly string[] | undefined]>([
    ["returns the lines of a request", ["-a", "+b"], ["-a", "+b"]],
    ["returns a shortened change for a first look", cut, cut],
    ["returns nothing for other values", ["+a", 1], undefined],
    ["returns nothing if the request has none", undefined, undefined],
  ])("%s", (_does, saved, lines) => {
    expect(savedChange(saved, false)).toEqual(lines);
  });

  test("returns nothing if all of a shortened change is asked for", () => {
    expect(savedChange(cut, true)).toBeUndefined();
    expect(savedChange(["+… 5 more lines"], true)).toEqual(["+… 5 more lines"]);
  });
});

test.each<[boolean, Record<string, unknown>]>([
  [true, { tool: "Edit", input: { changes: [] } }],
  [true, { tool: "Write", input: null }],
  [true, { tool: "Bash", input: { command: "ls\nrm x" } }],
  [true, { tool: "Bash", input: { command: "x".repeat(61) } }],
  [false, { tool: "Bash", input: { command: "ls" } }],
  [false, { tool: "Bash", input: null }],
  [false, { tool: "WebFetch", input: { host: "a" } }],
])("needsChange is %s for the call %j", (needs, payload) => {
  expect(needsChange(payload)).toBe(needs);
});
