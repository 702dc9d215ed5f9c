import { describe, expect, test } from "vitest";
import { withoutTerminal } from "../../../../src/os/process/no-terminal.ts";

describe("withoutTerminal", () => {
  test("replaces editors, pagers and prompts, and keeps other variables", () => {
    const env = withoutTerminal({
      A: "1",
      EDITOR: "vim",
      GIT_SEQUENCE_EDITOR: "interactive-rebase-tool",
      PAGER: "less",
      GIT_TERMINAL_PROMPT: "1",
      GPG_TTY: "/dev/pts/1",
    });
    expect(env).toMatchObject({ A: "1", PAGER: "cat", GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "" });
    expect(env.EDITOR).toMatch(/^false/);
    expect(env.GIT_SEQUENCE_EDITOR).not.toContain("interactive");
    expect(env.GPG_TTY).toBeUndefined();
    expect(withoutTerminal(env)).toEqual(env);
  });

  test.each([":", "true", "/usr/bin/true", "cat", "sed -i s/pick/edit/"])(
    "keeps an editor that needs no terminal: %s",
    (editor) => {
      const env = { EDITOR: editor, GIT_EDITOR: editor, GIT_SEQUENCE_EDITOR: editor };
      expect(withoutTerminal(env)).toMatchObject(env);
    },
  );

  test("keeps the programs that answer for the user, but allows no password window", () => {
    expect(withoutTerminal({ GIT_ASKPASS: "/x/askpass" }).GIT_ASKPASS).toBe("/x/askpass");
    expect(withoutTerminal({ SSH_ASKPASS: "/x/ask" }).SSH_ASKPASS_REQUIRE).toBe("never");
    expect(withoutTerminal({ SSH_ASKPASS_REQUIRE: "prefer" }).SSH_ASKPASS_REQUIRE).toBe("never");
    expect(withoutTerminal({ SSH_ASKPASS_REQUIRE: "force" }).SSH_ASKPASS_REQUIRE).toBe("force");
  });
});
