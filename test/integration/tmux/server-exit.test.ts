import { expect, test } from "vitest";
import { watchServer } from "../../../src/tmux/server-exit.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

test("watchServer › waits again if its wait ends, whatever a user's hook prints then", async () => {
  const t = privateTmux();
  t.session();
  const serverPid = Number(t.tmux("display-message", "-p", "#{pid}"));
  t.tmux("set-hook", "-g", "after-display-message", "run-shell 'echo noise'");
  let clients = 0;
  let isGone = false;
  const watch = watchServer(t.server, "teams-test", serverPid, () => {
    clients += 1;
  });
  void watch.gone.then(() => {
    isGone = true;
  });
  t.tmux("wait-for", "-S", "teams-test");
  await eventually("another wait", () => clients === 2 || isGone);
  expect(isGone).toBe(false);
  await watch.close();
});
