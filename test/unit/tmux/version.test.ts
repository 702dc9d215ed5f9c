import { describe, expect, it } from "vitest";
import { isAtLeast, parseVersion, requireSupported } from "../../../src/tmux/version.ts";

const NEWEST = [Number.POSITIVE_INFINITY, 0];

describe("parseVersion and isAtLeast", () => {
  it.each([
    ["tmux 3.2\n", [3, 2]],
    ["tmux 3.3a\n", [3, 3]],
    ["tmux 3.4", [3, 4]],
    ["tmux 3.5a", [3, 5]],
    ["tmux 3.10", [3, 10]],
    ["tmux next-3.6", [3, 6]],
    ["3.3a", [3, 3]],
    ["tmux master", NEWEST],
    ["tmux openbsd-7.5", NEWEST],
    ["", NEWEST],
  ])("read %j", (text, [major, minor]) => {
    expect(parseVersion(text)).toMatchObject({ major, minor });
  });

  it("compare versions as two numbers", () => {
    const has = (text: string): boolean => isAtLeast(parseVersion(text), 3, 6);
    expect(["3.5a", "2.9", "3.6", "3.10", "4.0", "next-3.6"].map(has)).toEqual([
      ...[false, false],
      ...[true, true, true, true],
    ]);
  });
});

describe("requireSupported", () => {
  it.each(["tmux 3.2", "tmux 3.2a", "tmux next-3.3", "tmux master", "tmux openbsd-7.5"])(
    "accepts %s",
    (text) => {
      expect(() => requireSupported(parseVersion(text))).not.toThrow();
    },
  );

  it.each(["tmux 3.1c", "tmux 1.8", "tmux 2.9a"])("rejects %s and says that nothing was started", (text) => {
    expect(() => requireSupported(parseVersion(text))).toThrowError(
      expect.objectContaining({
        code: "TMUX_ERROR",
        kind: "too-old",
        done: "nothing",
        message: `${text} is too old; nothing was started.`,
      }),
    );
  });
});
