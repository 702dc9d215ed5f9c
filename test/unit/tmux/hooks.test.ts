import { expect, test } from "vitest";
import { hookAdvice } from "../../../src/tmux/hooks.ts";

test.each([
  [[], undefined],
  [["after-split-window"], "Your tmux hook after-split-window runs after these commands; "],
  [
    ["after-split-window", "after-new-window"],
    "Your tmux hooks after-split-window, after-new-window run after these commands; ",
  ],
])("advice about hooks › names each hook of %j", (hooks, text) => {
  const [first] = hooks;
  expect(hookAdvice(hooks)).toBe(
    text === undefined ? undefined : `${text}check with \`tmux show-hooks -g ${first}\`.`,
  );
});
