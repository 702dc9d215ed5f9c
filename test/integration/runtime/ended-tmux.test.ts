import { expect, test } from "vitest";
import { endedTmux } from "../../../src/runtime/ended-tmux.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

test("endedTmux › returns the socket of the caller's server only if it has ended, whatever a user's hook prints", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const env = t.inside(pane);
  t.tmux("set-hook", "-g", "after-display-message", "run-shell 'echo noise'");
  expect(await endedTmux(env)).toBeUndefined();
  t.tmux("set-hook", "-gu", "after-display-message");
  await t.killServer();
  expect(await endedTmux(env)).toBe(env.TMUX?.split(",")[0]);
});
