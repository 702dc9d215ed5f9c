import { expect, test } from "vitest";
import { toolResult } from "../../../src/agent/mcp/mcp-tool.ts";

test("the data of a server's answer is kept where it is no longer than its text may be", () => {
  const kept = (length: number) => toolResult({ structuredContent: { a: "x".repeat(length) } }).data;
  expect([kept(1_000) !== undefined, kept(100_000)]).toEqual([true, undefined]);
});
