import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PaneOutput } from "../../../../src/adapter/keys/pane-output.ts";
import { findProgram } from "../../../../src/os/files/access.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { placeIn } from "../../../support/tmux/key-reader.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

test("PaneOutput › opens no pipe after it was closed, even while it was opening", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const tmux = findProgram("tmux", t.env) ?? "tmux";
  let heard = 0;
  const outputIn = (name: string): { readonly directory: string; readonly output: PaneOutput } => {
    const directory = join(t.home, name);
    mkdirSync(directory, { mode: 0o700 });
    const options = { server: t.server, place: placeIn(t, pane), directory, tmux };
    const onBytes = ({ length }: Uint8Array): void => {
      heard += length;
    };
    return { directory, output: new PaneOutput(options, onBytes) };
  };
  const isPiped = (): boolean => t.tmux("display-message", "-p", "-t", pane, "#{pane_pipe}") === "1";

  const closed = outputIn("closed");
  expect([await closed.output.open(), isPiped()]).toEqual(["open", true]);
  t.tmux("send-keys", "-t", pane, "text", "Enter");
  await eventually("the output", () => heard > 0);
  await closed.output.close();
  expect([isPiped(), await closed.output.open(), isPiped()]).toEqual([false, "gone", false]);

  const opening = outputIn("opening");
  const opened = opening.output.open();
  await opening.output.close();
  expect([await opened, isPiped()]).toEqual(["gone", false]);
  expect([closed, opening].map(({ directory }) => readdirSync(directory))).toEqual([[], []]);
});
