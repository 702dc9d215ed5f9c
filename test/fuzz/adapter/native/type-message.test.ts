import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPaneScreen, typeMessage } from "../../../../src/adapter/native/type-message.ts";
import { withoutControls } from "../../../../src/tmux/keys.ts";
import { cases } from "../../../support/random/arbitraries.ts";
import { keyReader } from "../../../support/tmux/key-reader.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

/** Text that tmux, its formats, a shell or a terminal would interpret. */
const HOSTILE = [
  ...[
    "\\",
    '"',
    "'",
    "$HOME",
    "~",
    ";",
    " ; kill-server",
    "#{pane_id}",
    "#(touch pwned)",
    "#[fg=red]",
    "%if",
    "{",
    "}",
  ],
  ...[
    "-",
    "\n",
    "\r",
    "\t",
    "\x1b[201~",
    "\x1b[200~",
    "\x9b201~",
    "\x03",
    "\x04",
    "\0",
    "MISS",
    "`id`",
    "検",
    "😀",
    "é",
  ],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "grapheme", maxLength: 6 })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""))
  // Something must be visible: tmux shows nothing of a character that is newer than its tables, so it is never submitted.
  .filter((said) => /[!-~é検😀]/u.test(withoutControls(said)));

describe("typeMessage, for a program that reads keys", () => {
  test("submits any text once, unchanged except for control characters", async () => {
    const t = privateTmux();
    t.session();
    const reader = await keyReader(t);
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(text, async (said) => {
        const idleScreen = await readPaneScreen(t.server, reader.place);
        if (idleScreen === undefined) throw new Error("no screen");
        expect(await typeMessage(t.server, reader.place, said, { idleScreen, lock: reader.lock })).toEqual({
          kind: "sent",
        });
        sent += 1;
        expect(reader.submitted()).toHaveLength(sent);
        expect(reader.submitted().at(-1)).toBe(withoutControls(said).replace(/\n+$/, ""));
      }),
      // Each case really types into tmux, for about 150 ms.
      cases(40),
    );
    expect(t.tmux("list-buffers")).toBe("");
  });
});
