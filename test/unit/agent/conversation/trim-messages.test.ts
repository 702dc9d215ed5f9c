import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compactionThreshold,
  cutMiddle,
  firstKeptIndex,
  fitMessages,
  keptTokens,
  shortenTexts,
  tokensOf,
  withoutThinking,
} from "../../../../src/agent/conversation/trim-messages.ts";
import { toolResultsOf, toolUsesOf } from "../../../../src/agent/model/messages.ts";
import type { ConversationMessage } from "../../../../src/agent/model/model.ts";

const text = (characters: number) => ({ type: "text", text: "y".repeat(characters) }) as const;

/** A turn: its input, some parallel calls with their results, and an answer. */
function turn(id: number, input: number, results: readonly number[], answer: number): ConversationMessage[] {
  const uses = results.map(
    (_, i) => ({ type: "tool_use", id: `${id}-${i}`, name: "Big", input: {} }) as const,
  );
  const given = results.map((characters, i) => {
    const content = "x".repeat(characters);
    return {
      type: "tool_result",
      toolUseId: `${id}-${i}`,
      content,
      isError: false,
      data: { content },
    } as const;
  });
  const called: ConversationMessage[] =
    results.length === 0
      ? []
      : [
          { role: "assistant", content: [{ type: "opaque", value: { type: "thinking" } }, ...uses] },
          { role: "user", content: given },
        ];
  return [
    { role: "user", content: [text(input)], origin: { text: "", from: "lead" } },
    ...called,
    { role: "assistant", content: [text(answer)] },
  ];
}

const size = fc.oneof(fc.nat(300), fc.nat(60_000));
const conversation = fc
  .array(fc.tuple(size, fc.array(size, { maxLength: 4 }), size), { minLength: 1, maxLength: 12 })
  .chain((turns) => {
    const all = turns.flatMap(([input, results, answer], id) => turn(id, input, results, answer));
    // The conversation may end in the middle of a turn.
    return fc.integer({ min: 1, max: all.length }).map((length) => all.slice(0, length));
  });

/** Ids of results whose call is not in the message before. */
function orphanResults(messages: readonly ConversationMessage[]): string[] {
  return messages.flatMap((message, i) => {
    const before = messages[i - 1];
    if (message.role === "assistant") return [];
    const calls = before?.role === "assistant" ? toolUsesOf(before).map(({ id }) => id) : [];
    return toolResultsOf(message).flatMap(({ toolUseId }) => (calls.includes(toolUseId) ? [] : [toolUseId]));
  });
}

describe("any conversation", () => {
  test("firstKeptIndex never separates a call from its result, and keeps the newest steps that fit, at least one", () => {
    fc.assert(
      fc.property(conversation, fc.nat(40_000), (messages, tokens) => {
        const from = firstKeptIndex(messages, tokens);
        const tail = messages.slice(from);
        expect(tail.length).toBeGreaterThan(0);
        expect(orphanResults(tail)).toEqual([]);
        const lastStep = messages.findLastIndex(({ content }) =>
          content.every(({ type }) => type !== "tool_result"),
        );
        if (from < lastStep) expect(tokensOf(tail)).toBeLessThanOrEqual(tokens);
      }),
    );
  });

  test("shortenTexts and fitMessages cut texts first, then drop the oldest messages, and start with a user message", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 3_000, max: 40_000 }), (messages, tokens) => {
        const short = shortenTexts(messages, tokens);
        expect(short).toHaveLength(messages.length);
        const fit = fitMessages(messages, tokens);
        expect(tokensOf(fit)).toBeLessThanOrEqual(tokens + 100);
        expect(fit[0]?.role).toBe("user");
        expect(orphanResults(fit)).toEqual([]);
        if (tokensOf(messages) <= tokens) expect(fit).toEqual(messages);
      }),
    );
  });
});

test("cutMiddle keeps both ends and says how many characters were left out", () => {
  expect(cutMiddle("short", 5)).toBe("short");
  const cut = cutMiddle(`begin${"x".repeat(1_000)}end`, 300);
  expect(cut).toMatch(/^beginx{195}\n… \(708 characters were left out.*\n.*x{97}end$/s);
});

test("shortenTexts keeps a cut tool input an object", () => {
  const input = { file_path: "a", content: "z".repeat(50_000), edits: [{ text: "z".repeat(50_000) }] };
  const [message] = shortenTexts(
    [{ role: "assistant", content: [{ type: "tool_use", id: "t", name: "Write", input }] }],
    1_000,
  );
  const [block] = message?.content ?? [];
  expect(block).toMatchObject({
    input: {
      file_path: "a",
      content: expect.stringContaining("characters were left out"),
      edits: "(left out)",
    },
  });
});

test("withoutThinking removes only thinking blocks", () => {
  const messages = turn(1, 10, [10], 10);
  const kept = withoutThinking(messages);
  expect(kept.flatMap(({ content }) => content.map(({ type }) => type))).toEqual([
    "text",
    "tool_use",
    "tool_result",
    "text",
  ]);
});

test.each([
  [1_000_000, 850_000, 30_000],
  [200_000, 160_000, 30_000],
  [32_000, 16_000, 6_400],
])("a window of %i tokens is compacted at %i tokens and keeps %i", (window, point, kept) => {
  expect([compactionThreshold(window), keptTokens(window)]).toEqual([point, kept]);
});
