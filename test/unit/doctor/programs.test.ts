import { describe, expect, it } from "vitest";
import { checkNode, judgeTmux } from "../../../src/doctor/programs.ts";
import { parseVersion } from "../../../src/tmux/version.ts";

describe("required programs", () => {
  it.each([
    ["20.18.3", "fail"],
    ["20.19.0", "ok"],
    ["24.0.0", "ok"],
    ["18.20.0", "fail"],
  ])("checkNode: Node %s gives %s", (version, level) => {
    expect(checkNode(version).level).toBe(level);
  });

  it.each([
    ["tmux 3.1c", "fail"],
    ["tmux 3.2", "ok"],
    ["tmux 3.3a", "ok"],
    ["tmux next-3.6", "ok"],
    ["tmux master", "ok"],
  ])("judgeTmux: %s gives %s", (text, level) => {
    expect(judgeTmux(parseVersion(text)).level).toBe(level);
  });
});
