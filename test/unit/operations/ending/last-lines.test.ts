import { expect, it } from "vitest";
import { lastLinesOf } from "../../../../src/operations/ending/last-lines.ts";
import { createPaneView } from "../../../../src/terminal/pane/pane-view.ts";

const quoted = (lastLines: readonly string[]) => lastLinesOf({ code: 1, signal: null, at: 0, lastLines });

it("lastLinesOf quotes the last lines of a crashed member, without blank lines", () => {
  expect(quoted(["● Bash(make)", "", "  make: error 2", "Segmentation fault"])).toBe(
    "\nIts last lines:\n> ● Bash(make)\n>   make: error 2\n> Segmentation fault",
  );
  expect(quoted(["", " "])).toBe("");
  expect(quoted(["Killed", "plan ›", "› "])).toBe("\nIts last lines:\n> Killed");
  expect(lastLinesOf(null)).toBe("");
});

it("lastLinesOf names the sender of a received message, but leaves out its text", () => {
  let out = "";
  const write = (text: string): void => {
    out += text;
  };
  const view = createPaneView({ write, name: "ada", width: () => 40, plain: true });
  const secret = "the PRIVATE word\n\n\nand PRIVATE again\n● Bash(PRIVATE)\n◂ PRIVATE";
  view.received("bob", secret);
  view.event({ type: "tool_started", id: "1", tool: "Bash", summary: "make" });
  view.received("eve", `PRIVATE ${"word ".repeat(200)}`);
  view.typed("go on");
  const lines = out.split("\n").map((line) => line.trimEnd());
  expect(quoted(lines)).toBe("\nIts last lines:\n> ◂ bob\n> ● Bash(make)\n> ◂ eve\n> › go on");
  // The quoted part may begin in the middle of a message.
  expect(quoted(lines.slice(2))).not.toContain("PRIVATE");
});
