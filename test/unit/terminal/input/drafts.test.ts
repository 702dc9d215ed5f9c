import { expect, it, vi } from "vitest";
import { draftsOf } from "../../../../src/terminal/input/drafts.ts";
import { lineEditor } from "../../../../src/terminal/input/line-editor.ts";

it("draftsOf › restores a line once, and pushes nothing for an empty line", () => {
  const editor = lineEditor();
  const push = vi.spyOn(editor, "push");
  const drafts = draftsOf(() => editor);
  editor.push("to ann", 7);
  drafts.change("ann", "bob");
  drafts.change("bob", "ann");
  expect([editor.edited.text, editor.begun]).toEqual(["to ann", 7]);
  editor.clear();
  push.mockClear();
  drafts.change("ann", "bob");
  drafts.change("bob", "ann");
  expect([editor.edited.text, push.mock.calls]).toEqual(["", []]);
});
