import { describe, expect, test } from "vitest";
import { type LineEditor, lineEditor } from "../../../../src/terminal/input/line-editor.ts";
import type { Completer, Suggestion } from "../../../../src/terminal/input/suggestions.ts";

const DOWN = "\u001b[B";
const COMMANDS: readonly Suggestion[] = [
  { insert: "/mode ", label: "/mode", runs: true },
  { insert: "/model ", label: "/model", runs: true },
  { insert: "/exit ", label: "/exit" },
];
const PATHS = ["src/", "src/clock.ts", "src/clocks/"].map((path) => ({
  insert: path.endsWith("/") ? `@${path}` : `@${path} `,
  label: path,
}));
const complete: Completer = (word, command) => {
  if (command === "/mode") return [{ insert: "plan", label: "plan", runs: true }];
  return (word.startsWith("/") ? COMMANDS : PATHS).filter(({ insert }) => insert.startsWith(word));
};

function editorWith(completer = complete): LineEditor {
  const editor = lineEditor();
  editor.connect({ complete: completer });
  return editor;
}

/** Returns the line after these keys, and what was sent. */
function after(keys: string): { readonly text: string; readonly sent: readonly string[] } {
  const editor = editorWith();
  const sent = editor.push(keys).flatMap((one) => (one.kind === "line" ? [one.line.trimEnd()] : []));
  return { text: editor.edited.text, sent };
}

describe("lineEditor › Enter with a list of suggestions", () => {
  test.each([
    ["runs a command that only shows something", "/mo\r", "", ["/mode"]],
    ["runs the selected command", `/mo${DOWN}\r`, "", ["/model"]],
    ["runs a command that is typed in full", "/mode\r", "", ["/mode"]],
    ["only completes a command with consequences", "/ex\r", "/exit ", []],
    ["then runs it", "/ex\r\r", "", ["/exit"]],
    ["runs a command without its argument", "/mode \r", "", ["/mode"]],
    ["completes the begun argument of a command, and runs the command", "/mode pl\r", "", ["/mode plan"]],
    ["completes a path, and sends nothing", "see @src/clo\r", "see @src/clock.ts ", []],
    ["completes the selected path", `see @src/clo${DOWN}\r`, "see @src/clocks/", []],
    ["sends a whole path", "see @src/clock.ts\r", "", ["see @src/clock.ts"]],
    ["sends a directory", "see @src/\r", "", ["see @src/"]],
    ["sends a directory without its slash", "see @src\r", "", ["see @src"]],
    ["sends a line that no suggestion matches", "/etc/hosts is wrong\r", "", ["/etc/hosts is wrong"]],
  ])("%s: %j", (_, keys, text, sent) => {
    expect(after(keys)).toEqual({ text, sent });
  });
});

test("lineEditor › shows suggestions that arrive later, unless one is selected, the line changed or the list was closed", () => {
  let known: readonly Suggestion[] = [];
  const later: (() => void)[] = [];
  let drawn = 0;
  const editor = editorWith((_word, _command, more) => {
    later.push(more);
    return known;
  });
  editor.connect({
    changed: () => {
      drawn += 1;
    },
  });
  const arrive = (): void => {
    for (const more of later.splice(0)) more();
  };
  editor.push("@cl");
  expect(editor.edited.suggestions).toBeUndefined();
  known = PATHS;
  arrive();
  expect([editor.edited.suggestions?.items.length, drawn]).toEqual([3, 1]);
  editor.push(DOWN);
  const [early] = later;
  arrive();
  expect([editor.edited.suggestions?.selected, drawn]).toEqual([1, 1]);
  editor.push("o");
  known = [];
  early?.();
  expect([editor.edited.suggestions?.items.length, drawn]).toEqual([3, 1]);
  editor.push("\u001b");
  editor.settle();
  known = PATHS;
  arrive();
  expect([editor.edited.suggestions, drawn]).toEqual([undefined, 1]);
});
