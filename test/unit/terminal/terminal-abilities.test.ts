import { expect, test } from "vitest";
import { terminalAbilities } from "../../../src/terminal/terminal-abilities.ts";

const tmux = (version: string) => ({ TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: version });

test.each([
  ["tmux 3.3a", tmux("3.3a"), false],
  ["tmux 3.3a in GNOME", { ...tmux("3.3a"), VTE_VERSION: "7200" }, false],
  ["tmux 3.4", tmux("3.4"), true],
  ["tmux 3.5a", tmux("3.5a"), true],
  ["tmux 3.10", tmux("3.10"), true],
  ["tmux before the release of 3.7", tmux("next-3.7"), true],
  ["tmux of an unknown version", tmux("master"), false],
  ["kitty", { TERM_PROGRAM: "kitty" }, true],
  ["a dumb terminal inside kitty", { TERM: "dumb", TERM_PROGRAM: "kitty" }, false],
  ["GNOME", { VTE_VERSION: "7200" }, true],
  ["an old VTE", { VTE_VERSION: "4402" }, false],
  ["xterm", { TERM: "xterm-256color" }, false],
])("terminalAbilities › judges whether %s shows links", (_, env, links) => {
  expect(terminalAbilities(env).links).toBe(links);
});

test.each([
  [{}, false],
  [{ LANG: "C.UTF-8" }, false],
  [{ LANG: "de_DE.utf8" }, false],
  [{ LANG: "C" }, true],
  [{ LC_ALL: "C", LANG: "C.UTF-8" }, true],
  [{ LC_CTYPE: "C.UTF-8", LANG: "C" }, false],
])("terminalAbilities › judges whether the locale %j allows only ASCII", (env, ascii) => {
  expect(terminalAbilities(env).ascii).toBe(ascii);
});
