import { describe, expect, test } from "vitest";
import { judgeTmuxOptions, readView } from "../../../src/doctor/tmux-options.ts";

function colours(options: readonly string[], clients: readonly string[]): string {
  const found = judgeTmuxOptions(readView([...options, "=next=", "=next=", ...clients]));
  const colour = found.find(({ name }) => name === "tmux true colour");
  return `${colour?.level}: ${colour?.text}`;
}

describe("true colour", () => {
  const told = ["terminal-features[0] xterm*:clipboard:title", "terminal-features[1] *:RGB"];

  test.each([
    ["passed on where every attached terminal has it", [], ["200 50 256,RGB,title"], "ok: passed on"],
    [
      "rounded where one has not",
      told,
      ["200 50 256,RGB", "80 24 256"],
      "warn: not passed on: colours are rounded to 256",
    ],
    ["passed on where the options say so and nobody looks", told, [], "ok: passed on"],
    [
      "unknown where nothing says so",
      ["terminal-features[0] xterm*:title"],
      [],
      "ok: nobody is attached, so it cannot be told",
    ],
  ])("is %s", (_case, options, clients, expected) => {
    expect(colours(options, clients)).toBe(expected);
  });
});

describe("what tmux prints", () => {
  test("is read with its quotes, lists and names without a value", () => {
    const { options, hooks, clients } = readView([
      'status-left "[#S] \\"x\\" "',
      "update-environment[0] DISPLAY",
      "update-environment[1] WINDOWID",
      "copy-command",
      "=next=",
      "after-split-window[0] select-layout tiled",
      "client-attached[0] select-layout tiled",
      "after-list-panes",
      "=next=",
      "80 24 ",
    ]);
    expect(Object.fromEntries(options)).toEqual({
      "status-left": '[#S] "x" ',
      "update-environment": "DISPLAY,WINDOWID",
    });
    expect([...hooks.keys()]).toEqual(["after-split-window"]);
    expect(clients).toEqual([{ width: 80, height: 24, features: "" }]);
  });
});
