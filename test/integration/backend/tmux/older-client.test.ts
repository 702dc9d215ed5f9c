import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { fileSize } from "../../../../src/os/files/fs.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { tmuxServer } from "../../../../src/tmux/server.ts";
import { watchServer } from "../../../../src/tmux/server-exit.ts";
import { end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

/** Answers like a tmux client before 3.6 that calls a server of 3.6 or newer. Logs each wait in $HOME/waits. */
const OLDER_CLIENT = `#!/bin/sh
case "$*" in *wait-for*) echo >>"$HOME/waits" ;; esac
echo 'server exited unexpectedly' >&2
exit 1
`;
const KEEPS_RUNNING = { code: "TMUX_ERROR", message: expect.stringContaining("which keeps running") };

test("a tmux client that reports the end of a living server › ends and starts nothing", async () => {
  const { t, pane, backend, older, serverPid } = served();
  const [place] = placesOf(await backend.spawn([requestFor(t, "one")], IN_TEAM_WINDOW)) as [PlaceRecord];
  expect(await older.present([place])).toEqual(new Set([place.instance]));
  await expect(older.close([place])).rejects.toMatchObject(KEEPS_RUNNING);
  const placement = { kind: "team-window", callerPane: pane, callerServer: serverPid } as const;
  await expect(older.spawn([requestFor(t, "two")], placement)).rejects.toMatchObject(KEEPS_RUNNING);
  // Its pane is closed with its process, even if tmux reports an error.
  expect(await end(place)).toEqual({ left: [] });
  await older.close([place]);
  expect(await older.present([place])).toEqual(new Set());
});

test("the watch of a server › does not report its end if a client that cannot talk to it ends", async () => {
  const { t, olderServer, serverPid } = served();
  const watch = watchServer(olderServer, "no-such-channel", serverPid, () => undefined);
  let isGone = false;
  void watch.gone.then(() => {
    isGone = true;
  });
  // The watch reports only clients that still run, so the stand-in logs its waits.
  await eventually("a second wait", () => (fileSize(join(t.home, "waits")) ?? 0) > 1);
  expect(isGone).toBe(false);
  await t.killServer();
  await watch.gone;
});

const IN_TEAM_WINDOW = { kind: "team-window" } as const;

function served() {
  const t = privateTmux();
  const { pane } = t.session();
  const bin = join(t.home, "older");
  mkdirSync(bin);
  writeFileSync(join(bin, "tmux"), OLDER_CLIENT, { mode: 0o755 });
  const env = { ...t.env, PATH: `${bin}:${t.env.PATH}` };
  const serverPid = Number(t.tmux("display-message", "-p", "#{pid}"));
  const olderServer = tmuxServer({ socket: t.server.socket, process: { pid: serverPid }, env });
  return {
    t,
    pane,
    serverPid,
    backend: tmuxPaneBackend({ server: t.server, env: t.env }),
    older: tmuxPaneBackend({ server: olderServer, env }),
    olderServer,
  };
}
