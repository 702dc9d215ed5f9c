import { expect, test } from "vitest";
import { toolResult } from "../../../../src/agent/mcp/mcp-tool.ts";

test("toolResult keeps structured data of a server only up to the length limit of its text", () => {
  const kept = (length: number) => toolResult({ structuredContent: { a: "x".repeat(length) } }).data;
  expect([kept(1_000) !== undefined, kept(100_000)]).toEqual([true, undefined]);
});
