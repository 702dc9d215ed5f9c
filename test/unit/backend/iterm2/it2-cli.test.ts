import { expect, test } from "vitest";
import { commandOf, isIterm2, sessionIdOf } from "../../../../src/backend/iterm2/it2-cli.ts";

const ID = "F9B3C0DE-1D3C-4C4B-9B6A-3D5F2C7A9E10";

test.each([
  [ID, ID],
  [`w0t12p3:${ID}`, ID],
  [`w0t12p3.${ID}`, ID],
  [ID.toLowerCase(), ID],
  [`x${ID}`, undefined],
  [`${ID}\n`, undefined],
  ["active", undefined],
  ["all", undefined],
  ["", undefined],
  [undefined, undefined],
])("sessionIdOf: session name %j gives %j", (name, id) => {
  expect(sessionIdOf(name)).toBe(id);
});

test.each([
  [{ TERM_PROGRAM: "iTerm.app" }, true],
  [{ TERM_PROGRAM: "tmux", ITERM_SESSION_ID: `w0t0p0:${ID}` }, true],
  [{ TERM_PROGRAM: "Apple_Terminal", TERM_SESSION_ID: `w0t0p0:${ID}` }, false],
  // ssh forwards this variable to machines without iTerm2.
  [{ LC_TERMINAL: "iTerm2" }, false],
  [{}, false],
])("isIterm2: environment %j gives %j", (env, is) => {
  expect(isIterm2(env)).toBe(is);
});

test("commandOf quotes words for iTerm2 and rejects words that it cannot quote", () => {
  expect(commandOf(["/bin/sh", "/tmp/teams-501/a b/c'd é$x;`#%"])).toBe(
    '/bin/sh "/tmp/teams-501/a b/c\'d é$x;`#%"',
  );
  for (const word of ['a"b', "a\\(b)", "a\nb", "a\0b", "$$PASSWORD$$", "", "\x1b]0;x"]) {
    expect(() => commandOf(["/bin/sh", word])).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  }
});
