import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../src/schema/event.ts";
import { eventText } from "../../../src/terminal/event-text.ts";
import { safeStyler } from "../../../src/terminal/output.ts";
import { localTime } from "../../../src/text/local-time.ts";

const tokens = { input: 1200, output: 34, cacheRead: 0, cacheWrite: 0 };

describe("eventText", () => {
  const texts: readonly (readonly [string, object])[] = [
    ["turn started, 1 message", { type: "agent", what: "turn_started", messages: 1 }],
    [
      "turn ended: completed, 2 tool calls, 5 ms",
      { type: "agent", what: "turn_ended", outcome: "completed", toolCalls: 2, ms: 5 },
    ],
    ["joined, tmux", { type: "member", what: "joined", backend: "tmux" }],
    ["member ended: shutdown", { type: "member", what: "ended", how: "shutdown" }],
    ["mode default → plan", { type: "mode_changed", mode: "plan", before: "default" }],
    ["idle", { type: "idle", reason: "available" }],
    ["idle: failed", { type: "idle", reason: "failed" }],
    [
      "message to dev: shutdown request, 1,234 characters",
      { type: "message", messageId: "m", from: "ada", to: "dev", size: 1234, protocol: "shutdown_request" },
    ],
    ["inbox of ada repaired", { type: "inbox", what: "repaired", owner: "ada" }],
    ["task #1 created: pending", { type: "task", what: "created", taskId: "1", status: "pending" }],
    [
      "task #1 changed: pending → in progress, owner none → ada",
      {
        type: "task",
        what: "changed",
        taskId: "1",
        status: "in_progress",
        owner: "ada",
        statusBefore: "pending",
      },
    ],
    ["hook Stop: success, 7 ms", { type: "hook", event: "Stop", result: "success", ms: 7 }],
    ["Bash refused, when asked", { type: "permission", tool: "Bash", allowed: false, asked: true }],
    [
      "model big: tool use, 1.2k tokens, $0.0042, 8 ms",
      {
        type: "model",
        model: "big",
        outcome: "answered",
        stopReason: "tool_use",
        tokens,
        costUsd: 0.0042,
        ms: 8,
      },
    ],
    [
      "memory loaded: CLAUDE.md, 26 characters, 0 skills",
      { type: "memory_loaded", files: ["/w/CLAUDE.md"], size: 26, skills: 0 },
    ],
    ["question defaulted: question-1", { type: "question", what: "defaulted", requestId: "question-1" }],
    ["task #{…} created", { type: "task", what: "created", taskId: { toString: 1 } }],
    ["memory loaded: {…}", { type: "memory_loaded", files: [{ toString: 1 }] }],
    ['of_tomorrow, agentId "ada@crew", x {"y":1}', { type: "of_tomorrow", x: { y: 1 } }],
  ];

  it.each(texts)("reads: %s", (text, { type, ...facts }: { type?: string }) => {
    const event = {
      ts: "2026-01-01T00:00:00.000Z",
      type: type ?? "",
      team: "crew",
      agentId: "ada@crew",
      ...facts,
    };
    const own = eventText(event, { styleText: safeStyler(false) });
    expect(own).toBe(`${localTime(event.ts, "seconds")} ada ${text}`);
  });

  it("has a text for every event type", () => {
    expect(new Set(texts.flatMap(([, event]) => (event as { type: string }).type))).toEqual(
      new Set([...EVENT_TYPES, "of_tomorrow"]),
    );
  });
});
