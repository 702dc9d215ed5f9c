import { describe, expect, test } from "vitest";
import { judgeTmuxOptions, parseTmuxView } from "../../../src/doctor/tmux-options.ts";

function colours(options: readonly string[], clients: readonly string[]): string {
  const found = judgeTmuxOptions(parseTmuxView([...options, "=next=", "=next=", ...clients]));
  const colour = found.find(({ name }) => name === "tmux true colour");
  return `${colour?.level}: ${colour?.text}`;
}

describe("true colour check", () => {
  const rgbOptions = ["terminal-features[0] xterm*:clipboard:title", "terminal-features[1] *:RGB"];

  test.each([
    ["reports true colour if every attached terminal has it", [], ["200 50 256,RGB,title"], "ok: passed on"],
    [
      "warns if one attached terminal lacks it",
      rgbOptions,
      ["200 50 256,RGB", "80 24 256"],
      "warn: not passed on: colours are rounded to 256",
    ],
    ["reports true colour from the options if no terminal is attached", rgbOptions, [], "ok: passed on"],
    [
      "reports an unknown state if no terminal is attached and no option names true colour",
      ["terminal-features[0] xterm*:title"],
      [],
      "ok: not known: no client is attached",
    ],
  ])("%s", (_case, options, clients, expected) => {
    expect(colours(options, clients)).toBe(expected);
  });
});

describe("parseTmuxView", () => {
  test("reads quoted values, lists and options without a value", () => {
    const { options, hooks, clients } = parseTmuxView([
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

test("size check › warns of a global window-size that crashes tmux", () => {
  const found = judgeTmuxOptions(parseTmuxView(["window-size manual", "=next=", "=next="]));
  expect(found.find(({ name }) => name === "tmux size")).toMatchObject({
    level: "warn",
    text: expect.stringContaining("crash when a window is created"),
  });
});

describe("hook check", () => {
  test.each([
    ['after-split-window[0] "run-shell false"', "after-split-window may rearrange agents' panes"],
    ['after-new-window[0] "rename-window mine"', "after-new-window may rearrange agents' panes"],
    ["after-new-window[0] split-window", "after-new-window may rearrange agents' panes"],
    [
      "after-new-window[0] \"command-prompt -I x 'rename-window %%'\"",
      "after-new-window may rearrange agents' panes; after-new-window may wait, which delays starts and ends",
    ],
    ['after-kill-pane[0] "wait-for done"', "after-kill-pane may wait, which delays starts and ends"],
    ['pane-exited[0] "display-message wait-for-it"', "none that rearranges panes or waits"],
  ])("judges %s", (hook, text) => {
    const found = judgeTmuxOptions(parseTmuxView(["=next=", hook, "=next="]));
    expect(found.find(({ name }) => name === "tmux hooks")?.text).toBe(text);
  });
});
