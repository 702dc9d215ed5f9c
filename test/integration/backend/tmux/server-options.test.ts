import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { crashesAtManualSize } from "../../../../src/backend/tmux/server-options.ts";
import { openTeamSession } from "../../../../src/backend/tmux/team-session.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { parseVersion } from "../../../../src/tmux/version.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

test("a global window-size manual › is refused before it crashes the user's server", async (context) => {
  const t = privateTmux();
  context.skip(!crashesAtManualSize(await t.server.version()), "this tmux does not crash");
  const { pane: callerPane } = t.session();
  const [one] = placesOf(await spawn(t, "one", callerPane));
  const pid = t.tmux("display-message", "-p", "#{pid}");
  t.tmux("set-option", "-g", "window-size", "manual");
  const refused = { code: "TMUX_ERROR", message: expect.stringContaining("window-size is manual") };
  await expect(spawn(t, "two", callerPane, "window")).rejects.toMatchObject(refused);
  await expect(
    openTeamSession(t.server, { ...TEAM, argv: ["env", "cat"], env: t.env }),
  ).rejects.toMatchObject(refused);
  expect(t.tmux("display-message", "-p", "#{pid}")).toBe(pid);
  // A split creates no window.
  const [two] = placesOf(await spawn(t, "two", callerPane));
  expect(two?.windowId).toBe(one?.windowId);
});

test("a window resized by hand › does not count as the global option", async () => {
  const t = privateTmux();
  const { pane: callerPane } = t.session();
  t.tmux("resize-window", "-t", "=work:", "-x", "150", "-y", "40");
  placesOf(await spawn(t, "one", callerPane));
});

test.for([
  ["set -g window-size manual", "window-size is manual"],
  ["set -s exit-unattached on", "exit-unattached is on"],
])("a server that ends at once › is explained (%s)", async ([config = "", text = ""], context) => {
  const t = privateTmux({ config });
  const crashes = crashesAtManualSize(await t.server.version());
  context.skip(config.includes("window-size") && !crashes, "this tmux does not crash");
  const explained = { code: "TMUX_ERROR", message: expect.stringContaining(text) };
  await expect(spawn(t, "one")).rejects.toMatchObject(explained);
  const opened = openTeamSession(t.server, { ...TEAM, argv: ["env", "cat"], env: t.env });
  await expect(opened).rejects.toMatchObject(explained);
});

test("a server that ends with its last client › is refused while another client is connected", async () => {
  // The server waits for a client whose command ends when the test closes the pipe.
  const t = privateTmux({
    config: `set -s exit-unattached on
run-shell -b "tmux run-shell 'touch $HOME/began; cat $HOME/held'"
run-shell "until test -e $HOME/began || ! test -d $HOME; do sleep 0.1; done"`,
  });
  const held = join(t.home, "held");
  execFileSync("mkfifo", [held]);
  const pipe = openSync(held, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(pipe));
  const explained = { code: "TMUX_ERROR", message: expect.stringContaining("exit-unattached is on") };
  await expect(spawn(t, "one")).rejects.toMatchObject(explained);
  // The server still runs, for the other client.
  await expect(spawn(t, "two")).rejects.toMatchObject(explained);
  const opened = openTeamSession(t.server, { ...TEAM, argv: ["env", "cat"], env: t.env });
  await expect(opened).rejects.toMatchObject(explained);
  await eventually("the other client", () => existsSync(join(t.home, "began")));
});

test("a server that ends with its last client › gets panes while a terminal is attached", async () => {
  const t = privateTmux();
  const { session } = t.session();
  await t.attach(session);
  t.tmux("set-option", "-s", "exit-unattached", "on");
  placesOf(await spawn(t, "one"));
  t.tmux("set-option", "-s", "exit-unattached", "off");
});

test.each([
  ["3.2a", false],
  ["3.3a", true],
  ["3.6b", true],
  ["3.7c", false],
  ["next-3.8", false],
])("crashesAtManualSize › knows tmux %s", (version, crashes) => {
  expect(crashesAtManualSize(parseVersion(version))).toBe(crashes);
});

function spawn(
  t: PrivateTmux,
  name: string,
  callerPane?: string,
  kind: "team-window" | "window" = "team-window",
) {
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  return backend.spawn([requestFor(t, name)], { kind, callerPane });
}
