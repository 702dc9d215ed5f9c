import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { tmuxServer } from "../../../../src/tmux/server.ts";
import { watchServer } from "../../../../src/tmux/server-exit.ts";
import { end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

/** Answers like a tmux client before 3.6 that calls a server of 3.6 or newer, and records its calls. */
const OLDER_CLIENT = '#!/bin/sh\necho "$*" >> "$0.calls"\necho "server exited unexpectedly" >&2\nexit 1\n';
const KEEPS_RUNNING = { code: "TMUX_ERROR", message: expect.stringContaining("which keeps running") };

test("a tmux client that reports the end of a living server › ends and starts nothing", async () => {
  const { t, pane, backend, older, serverPid } = served();
  const [place] = placesOf(await backend.spawn([requestFor(t, "one")], IN_TEAM_WINDOW)) as [PlaceRecord];
  expect(await older.present([place])).toEqual(new Set([place.instance]));
  await expect(older.close([place])).rejects.toMatchObject(KEEPS_RUNNING);
  const placement = { kind: "team-window", callerPane: pane, callerServer: serverPid } as const;
  await expect(older.spawn([requestFor(t, "two")], placement)).rejects.toMatchObject(KEEPS_RUNNING);
  // Its pane is closed with its process, whatever tmux says.
  expect(await end(place)).toEqual({ left: [] });
  await older.close([place]);
  expect(await older.present([place])).toEqual(new Set());
});

test("the watch of a server › does not report its end if a client that cannot talk to it ends", async () => {
  const { t, olderServer, olderCalls, serverPid } = served();
  const watch = watchServer(olderServer, "no-such-channel", serverPid, () => undefined);
  let isGone = false;
  void watch.gone.then(() => {
    isGone = true;
  });
  const waits = () => olderCalls().filter((call) => call.includes("wait-for")).length;
  await expect.poll(waits, { timeout: 10_000 }).toBeGreaterThan(1);
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
  const olderServer = tmuxServer({ socket: t.server.socket, env });
  return {
    t,
    pane,
    serverPid: Number(t.tmux("display-message", "-p", "#{pid}")),
    backend: tmuxPaneBackend({ server: t.server, env: t.env }),
    older: tmuxPaneBackend({ server: olderServer, env }),
    olderServer,
    olderCalls: () => readFileSync(join(bin, "tmux.calls"), "utf8").split("\n"),
  };
}
