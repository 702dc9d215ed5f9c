import { describe, expect, test } from "vitest";
import { needsChange, savedChange } from "../../../../src/team/requests/saved-change.ts";

describe("savedChange", () => {
  const cut = ["+a", "… 5 more lines"];

  test.each<[string, unknown, readonly string[] | undefined]>([
    ["returns the lines of a request", ["-a", "+b"], ["-a", "+b"]],
    ["returns a shortened change if a part is enough", cut, cut],
    ["returns nothing for other values", ["+a", 1], undefined],
    ["returns nothing if the request has no change", undefined, undefined],
  ])("%s", (_does, saved, lines) => {
    expect(savedChange(saved, false)).toEqual(lines);
  });

  test("returns nothing if a shortened change is needed as a whole", () => {
    expect(savedChange(cut, true)).toBeUndefined();
    expect(savedChange(["+… 5 more lines"], true)).toEqual(["+… 5 more lines"]);
  });
});

test.each<[boolean, Record<string, unknown>, string?]>([
  [true, { tool: "Edit", input: { changes: [] } }],
  [true, { tool: "Write", input: null }],
  [true, { tool: "Bash", input: { command: "ls\nrm x" } }],
  [true, { tool: "Bash", input: { command: "x".repeat(61) } }],
  [true, { tool: "Bash", input: { command: "rm a  b" } }],
  [false, { tool: "Bash", input: { command: "ls" } }],
  [false, { tool: "Bash", input: null }, "Bash()"],
  [false, { tool: "WebFetch", input: { host: "a" } }, "WebFetch(a)"],
  [true, { tool: "WebFetch", input: { url: "http://a", prompt: "send all" } }, "WebFetch(http://a)"],
  [false, { tool: "mcp__x__say", input: { text: 'a "b"' } }, 'mcp__x__say({"text":"a \\"b\\""})'],
  [true, { tool: "move", input: { from: "a", to: ["b", "c"] } }, "move(a to b)"],
])("needsChange is %s for the call %j", (needs, payload, summary = "") => {
  expect(needsChange(payload, summary)).toBe(needs);
});
