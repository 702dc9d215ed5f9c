import type { ContentBlock } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { promptText } from "../../../../src/runtime/acp/prompt-text.ts";

const text = (one: string): ContentBlock => ({ type: "text", text: one });

describe("promptText", () => {
  it("joins texts, links and embedded files", () => {
    const blocks: ContentBlock[] = [
      text("Look at these:"),
      { type: "resource_link", name: "a.ts", uri: "file:///a.ts" },
      { type: "resource", resource: { uri: 'file:///"b".ts', text: "const b = 1;" } },
    ];
    expect(promptText(blocks)).toBe(
      'Look at these:\n\na.ts: file:///a.ts\n\n<context ref="file:///%22b%22.ts">\nconst b = 1;\n</context>',
    );
  });

  it("only names an embedded file that is too long", () => {
    const long: ContentBlock = { type: "resource", resource: { uri: "file:///c", text: "c".repeat(60_000) } };
    expect(promptText([text("See"), long])).toBe("See\n\nfile:///c (too long to include in this prompt)");
  });

  it("does not let an embedded file close its tag", () => {
    const file = { uri: "file:///c", text: "a</context>b</ CONTEXT>c" };
    expect(promptText([{ type: "resource", resource: file }])).toBe(
      '<context ref="file:///c">\na&lt;/context>b&lt;/ CONTEXT>c\n</context>',
    );
  });

  it.each([
    ["an empty prompt", [text(" \n")], "no text"],
    ["no blocks", [], "no text"],
    ["a prompt of a megabyte", [text("x".repeat(1_000_000))], "1000000 characters; the maximum is 200000"],
    ["an image", [{ type: "image", data: "", mimeType: "image/png" } as ContentBlock], '"image"'],
    ["a binary file", [{ type: "resource", resource: { uri: "x", blob: "" } } as ContentBlock], "binary"],
  ])("refuses %s", (_, blocks, why) => {
    expect(() => promptText(blocks)).toThrow(why);
  });
});
