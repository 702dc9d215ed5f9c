import { expect } from "vitest";
import type { FakeRequest } from "../model/fake-messages-api.ts";

interface Block {
  readonly type: string;
  readonly id: string;
  readonly tool_use_id: string;
  readonly input: unknown;
}

/**
 * Asserts the rules of the Messages API: the roles alternate and begin with the user, and each tool call is
 * followed by its result and no other.
 */
export function expectValidRequest({ body }: FakeRequest): void {
  let called: readonly string[] = [];
  for (const [i, { role, content }] of body.messages.entries()) {
    const blocks = content as readonly Block[];
    expect(role).toBe(i % 2 === 0 ? "user" : "assistant");
    const answered = blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    expect(answered).toEqual(called);
    for (const { type, input } of blocks) if (type === "tool_use") expect(input).toEqual(expect.any(Object));
    called = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  }
  expect(called).toEqual([]);
}
