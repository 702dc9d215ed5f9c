import { describe, expect, it } from "vitest";
import { checkInsideTmux, checkTerminal } from "../../../src/doctor/terminal.ts";

describe("checkTerminal", () => {
  it("judges TERM and the locale only if stdout is a terminal", () => {
    const levels = (env: Record<string, string>, isTerminal = true): readonly string[] =>
      checkTerminal(env, isTerminal).map(({ level }) => level);
    expect(levels({ TERM: "xterm-256color", LANG: "en_US.UTF-8" })).toEqual(["ok", "ok"]);
    expect(levels({ TERM: "xterm", COLORTERM: "truecolor", LC_ALL: "C.utf8" })).toEqual(["ok", "ok"]);
    expect(levels({ TERM: "vt100", LC_ALL: "C", LANG: "en_US.UTF-8" })).toEqual(["warn", "warn"]);
    expect(levels({})).toEqual(["warn", "warn"]);
    expect(levels({}, false)).toEqual(["ok"]);
    expect(checkInsideTmux({ TMUX: "/tmp/x,1,0" }).text).toMatch(/^yes/);
  });
});
