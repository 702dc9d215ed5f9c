import { expect, test } from "vitest";
import { run } from "../../../src/os/process/run.ts";
import { capturePanes } from "../../../src/tmux/capture.ts";
import { equals } from "../../../src/tmux/command.ts";
import { type PaneId, paneId } from "../../../src/tmux/ids.ts";
import { tmuxServer } from "../../../src/tmux/server.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/** Opens a window whose only pane shows this text and nothing else. */
function showing(t: PrivateTmux, text: string): PaneId {
  const words = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=work:", "--"];
  const id = paneId(t.tmux(...words, "/bin/sh", "-c", 'printf "%s" "$1"; exec cat', "sh", text));
  if (id === undefined) throw new Error("tmux printed no pane id.");
  return id;
}

const itself = (pane: PaneId) => ({ pane, condition: equals("pane_id", pane) });

/** Waits until a pane shows a text; the tests themselves capture only once. */
async function shown(t: PrivateTmux, pane: PaneId, text: string): Promise<void> {
  await eventually(text, () => t.tmux("capture-pane", "-p", "-t", pane).includes(text));
}

test("capturePanes › captures 64 panes in one tmux call, each with its empty rows", async () => {
  const t = privateTmux();
  t.session();
  const panes = Array.from({ length: 64 }, (_, i) => showing(t, `first ${i}\n\nlast ${i}`));
  for (const [i, pane] of panes.entries()) await shown(t, pane, `last ${i}`);
  let calls = 0;
  const server = tmuxServer({
    socket: t.server.socket,
    env: t.env,
    run: (...words) => {
      calls += 1;
      return run(...words);
    },
  });
  const screens = await capturePanes(server, panes.map(itself), 10);
  expect(calls).toBe(1);
  expect(screens.map((rows) => rows?.slice(0, 3))).toEqual(
    panes.map((_, i) => [`first ${i}`, "", `last ${i}`]),
  );
});

test("capturePanes › returns rows without the trailing spaces that tmux 3.2 adds", async () => {
  const t = privateTmux();
  t.session();
  const pane = showing(t, "a  b   \n   \n  c");
  await shown(t, pane, "  c");
  expect(await capturePanes(t.server, [itself(pane)], 0)).toEqual([
    expect.arrayContaining(["a  b", "", "  c"]),
  ]);
});

test("capturePanes › returns no rows for a pane that is gone or fails its condition", async () => {
  const t = privateTmux();
  t.session();
  const [one, other, gone] = [showing(t, "one"), showing(t, "other"), showing(t, "gone")];
  await shown(t, one, "one");
  await shown(t, other, "other");
  t.tmux("kill-pane", "-t", gone);
  const targets = [itself(gone), { pane: other, condition: equals("pane_id", one) }, itself(one)];
  const [first, second, third] = await capturePanes(t.server, targets, 0);
  expect([first, second, third?.[0]]).toEqual([undefined, undefined, "one"]);
});

test("capturePanes › is not confused by a screen that shows its separator", async () => {
  const t = privateTmux();
  t.session();
  const seen: string[] = [];
  const server = {
    ...t.server,
    batch: async (...words: Parameters<typeof t.server.batch>) => {
      const result = await t.server.batch(...words);
      seen.push(result.text.split("\n")[0] ?? "");
      return result;
    },
  };
  const pane = showing(t, "calm");
  await shown(t, pane, "calm");
  await capturePanes(server, [itself(pane)], 0);
  const [mark = ""] = seen;
  expect(mark).toMatch(/ 0$/);
  const imitator = showing(t, mark);
  await shown(t, imitator, mark);
  const [imitated, real] = await capturePanes(server, [itself(imitator), itself(pane)], 0);
  expect([imitated?.[0], real?.[0]]).toEqual([mark, "calm"]);
});

test("capturePanes › returns no rows without a server", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  await t.killServer();
  expect(await capturePanes(t.server, [itself(pane as PaneId)], 0)).toEqual([undefined]);
});
